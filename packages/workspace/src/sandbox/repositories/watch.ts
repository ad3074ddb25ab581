// Finds the repositories that commands have created or changed in a sandbox, and sets new ones aside in which git would
// run programs: it does so outside the sandbox as soon as an index names them, or a person enters them. The same for
// settings of agentcli, which it would use in a trusted project.
import { relative } from "node:path";
import { indexedRepositories, type NestedRepositories } from "./nested.ts";
import { risksOf } from "./risks.ts";
import { type DirectoryPath, type Listings, type Repository, searchRepositories } from "./search.ts";
import { setAside } from "./set-aside.ts";
import { type RepositorySignature, signatureOf } from "./signature.ts";
import { searchUnlocked } from "./unlock.ts";

export interface RepositoryWatch {
  /** One sentence for each repository, once. */
  findChanges(): Promise<string[]>;
  /** Lists directories while there is time, so that the next search only has to look at those that changed. */
  prepare(signal: AbortSignal): Promise<void>;
  /** For a search by another process, should this one be killed. */
  describe(): WatchedRun;
}

interface WatchSettings {
  roots: string[];
  /** Also the repositories of the roots: their `.git` is not protected. */
  rootRepositories: "watched" | "protected";
  /** What happens to a new one in which git would run programs. */
  newRepositories: "set-aside" | "kept";
}

export interface WatchOptions extends WatchSettings {
  nested: NestedRepositories;
  /** What a search reads at most. */
  maxEntries?: number;
}

/** What a watch knew at its start. */
export interface WatchedRun extends WatchSettings {
  startedMs: number;
  /** Whether everything was found that existed then. */
  isComplete: boolean;
  known: (Known & { repository: { directory: string } })[];
}

export interface EarlierRun extends WatchedRun {
  /** What was created later was not created by this run. */
  endedMs: number;
}

/** About 15 s for a million entries on a slow disk, half a second for 200,000 files. */
const usualMaxEntries = 1_000_000;
/** The clock of a file system is behind by one tick of the kernel. */
const clockToleranceMs = 20;
const maxSentences = 20;

export function watchRepositories({ nested, maxEntries, ...settings }: WatchOptions): RepositoryWatch {
  const startedMs = Date.now() - clockToleranceMs;
  const watchedRoots = settings.rootRepositories === "watched" ? settings.roots : [];
  const withGit = [...watchedRoots, ...nested.protected].map((directory): Repository => ({ directory, entry: ".git" }));
  const withSettings = watchedRoots.map((directory): Repository => ({ directory, entry: ".agentcli" }));
  const known = [...withGit, ...withSettings, ...nested.repositories].map((repository) => ({
    repository,
    signature: signatureOf(repository),
  }));
  const { isComplete } = nested;
  const run = { ...settings, startedMs, isComplete };
  return {
    ...openWatch({ ...run, known, endedMs: Number.POSITIVE_INFINITY, maxEntries }, "This run"),
    describe: () => ({ ...run, known: known.filter(isText) }),
  };
}

/** What a run that was killed has created or changed. */
export const searchAfter = (run: EarlierRun): Promise<string[]> =>
  openWatch(run, "A run that was killed").findChanges();

const isText = (known: Known): known is WatchedRun["known"][number] => typeof known.repository.directory === "string";

type WatchPeriod = Omit<EarlierRun, "known"> & { known: Known[]; maxEntries?: number | undefined };

function openWatch(period: WatchPeriod, who: string): Omit<RepositoryWatch, "describe"> {
  const { roots, newRepositories, startedMs, endedMs, isComplete, maxEntries = usualMaxEntries } = period;
  const known = new Map<string, Known>();
  const listings: Listings = new Map();
  const remember = (repository: Repository, signature = signatureOf(repository)) =>
    known.set(`${repository.entry} ${repository.directory}`, { repository, signature });
  for (const { repository, signature } of period.known) remember(repository, signature);
  // Then others may have changed the workspace since.
  const isOver = endedMs !== Number.POSITIVE_INFINITY;
  // Any directory of before can become a part of a bare repository or the settings of agentcli, and keeps its age.
  const isNew = ({ createdMs, assembledMs }: RepositorySignature, entry: Repository["entry"]) =>
    isComplete || entry !== ".git" || Math.max(createdMs, assembledMs) >= startedMs;

  function changeOf(repository: Repository): string | null {
    const { directory, entry } = repository;
    const now = signatureOf(repository);
    const before = known.get(`${entry} ${directory}`)?.signature;
    remember(repository, now);
    if (now === null) return before && entry === ".git" && !isOver ? removed(nameIn(roots, directory)) : null;
    if (isOver && now.createdMs > endedMs) return null;
    if (before === undefined && now.changedMs < startedMs) return null;
    const isReplaced = before === undefined ? isNew(now, entry) : before?.identity !== now.identity;
    if (!isReplaced && before?.settings === now.settings) return null;
    const risks = risksOf(repository);
    if (entry === ".agentcli" && risks.length === 0) return null;
    const isOfUser = entry === ".git" && roots.includes(String(directory)) && before !== null;
    const mayMove = isReplaced && newRepositories === "set-aside" && !isOfUser && risks.length > 0;
    const moved = mayMove ? setAside(repository) : null;
    if (moved !== null) remember(repository, null);
    const what = entry === ".agentcli" ? "settings of agentcli" : "the git repository";
    const fact = `${who} ${isReplaced ? "created" : "changed"} ${what} in ${nameIn(roots, directory)}.`;
    return describeChange(fact, { entry, risks, moved });
  }

  /** One repository must not keep the others from being looked at. */
  function tryChangeOf(repository: Repository): string | null {
    try {
      return changeOf(repository);
    } catch (error) {
      return notChecked(nameIn(roots, repository.directory), (error as Error).message);
    }
  }

  return {
    async findChanges() {
      const search = await searchUnlocked(roots, { maxEntries, listings, changedSinceMs: startedMs });
      try {
        const isUnknown = ({ entry, directory }: Repository) => !known.has(`${entry} ${directory}`);
        const found = [...search.repositories, ...(search.isComplete ? [] : unsearched(roots, search.repositories))];
        const all = [...[...known.values()].map(({ repository }) => repository), ...found.filter(isUnknown)];
        const sentences = all.flatMap((repository) => tryChangeOf(repository) ?? []);
        const unknown = search.unreadable.map((path) => notSearched(nameIn(roots, path)));
        return shorten([...(search.isComplete ? [] : [tooLarge]), ...unknown, ...plainLast(sentences)]);
      } finally {
        search.lockAgain();
      }
    },
    prepare: async (signal) => void (await searchRepositories(roots, { maxEntries, listings, signal })),
  };
}

/** Git enters these at once; people enter others, and the report asks them to look first. */
function unsearched(roots: string[], repositories: Repository[]): Repository[] {
  const found = new Set(repositories.flatMap(({ directory, entry }) => (entry === ".git" ? String(directory) : [])));
  return indexedRepositories(roots, [...found])
    .filter((directory) => !found.has(directory))
    .map((directory) => ({ directory, entry: ".git" }));
}

interface Known {
  repository: Repository;
  signature: RepositorySignature | null;
}

interface Change {
  entry: Repository["entry"];
  risks: string[];
  /** The new names, of the entry first. */
  moved: string[] | null;
}

function describeChange(fact: string, { entry, risks, moved }: Change): string {
  if (entry === ".agentcli") return describeSettings(fact, risks, moved);
  if (risks.length === 0) return `${fact}${checkPlain}`;
  const why = `git could run programs there (${risks.map(printable).join(", ")})`;
  if (moved === null && entry === "HEAD") return `${fact} Check its config and hooks before you run git there: ${why}.`;
  if (moved === null) return `${fact} Check its .git before you run git here: ${why}.`;
  const [name, ...inside] = moved;
  const all = ["it", ...inside.map((inner) => `its ${inner}`)].join(" and ");
  return `${fact} Its ${entry} was renamed to ${name}, because ${why}. Check it, and rename ${all} back to use it.`;
}

const checkPlain = " Check it before you run git there or add it.";

/** Only some are shown. */
function plainLast(sentences: string[]): string[] {
  const isPlain = (sentence: string) => sentence.endsWith(checkPlain);
  return [...sentences.filter((sentence) => !isPlain(sentence)), ...sentences.filter(isPlain)];
}

function describeSettings(fact: string, risks: string[], moved: string[] | null): string {
  const why = `in a trusted project agentcli would use them there (${risks.map(printable).join(", ")})`;
  if (moved === null) return `${fact} Check its .agentcli before you run agentcli there: ${why}.`;
  return `${fact} Its .agentcli was renamed to ${moved[0]}, because ${why}. Check it, and rename it back to use it.`;
}

const removed = (name: string) => `This run removed the .git of ${name}.`;

const notChecked = (name: string, reason: string) =>
  `The git repository in ${name} could not be checked: ${printable(reason)}. Check it before you run git there.`;

const notSearched = (name: string) =>
  `${name} cannot be read, so it was not searched for git repositories. Check it before you run git there.`;

const tooLarge =
  "The workspace is too large to be searched for git repositories that this run may have created: what is far below its top was not checked, except what its index names. Check for them before you run git there.";

const shorten = (sentences: string[]): string[] =>
  sentences.length <= maxSentences
    ? sentences
    : [...sentences.slice(0, maxSentences), `… and ${sentences.length - maxSentences} more git repositories.`];

function nameIn(roots: string[], directory: DirectoryPath): string {
  const path = String(directory);
  const [root] = roots;
  const below = root === undefined ? path : relative(root, path);
  return printable(below === "" ? "the workspace" : below.startsWith("../") ? path : below);
}

/** Commands choose these names. */
const printable = (text: string): string => text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "\ufffd").slice(0, 200);
