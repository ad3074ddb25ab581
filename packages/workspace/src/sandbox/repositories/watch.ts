// Finds the repositories that commands have created or changed in a sandbox, and sets new ones aside in which git would
// run programs: it does so outside the sandbox as soon as an index names them, or a person enters them.
import { lstatSync } from "node:fs";
import { relative } from "node:path";
import type { NestedRepositories } from "./nested.ts";
import { risksOf } from "./risks.ts";
import { type DirectoryPath, searchRepositories } from "./search.ts";
import { setAside } from "./set-aside.ts";
import { type RepositorySignature, signatureOf } from "./signature.ts";

export interface RepositoryWatch {
  /** One sentence for each repository, once. */
  findChanges(): Promise<string[]>;
}

export interface WatchOptions {
  roots: string[];
  nested: NestedRepositories;
  /** Also the repositories of the roots: their `.git` is not protected. */
  rootRepositories: "watched" | "protected";
  /** What happens to a new one in which git would run programs. */
  newRepositories: "set-aside" | "kept";
}

/** About 15 s for a million entries on a slow disk, half a second for 200,000 files. */
const maxEntries = 1_000_000;
/** The clock of a file system is behind by one tick of the kernel. */
const clockToleranceMs = 20;
const maxSentences = 20;

export function watchRepositories({ roots, nested, rootRepositories, newRepositories }: WatchOptions): RepositoryWatch {
  const startedMs = Date.now() - clockToleranceMs;
  const watchedRoots = rootRepositories === "watched" ? roots : [];
  const existing: DirectoryPath[] = [...watchedRoots, ...nested.protected, ...nested.directories];
  const known = new Map(existing.map((path) => [String(path), signatureOf(path)]));
  const isNew = (signature: RepositorySignature) => nested.isComplete || signature.createdMs >= startedMs;

  function changeOf(directory: DirectoryPath): string | null {
    const now = signatureOf(directory);
    const before = known.get(String(directory));
    known.set(String(directory), now);
    if (now === null) return before ? removed(nameIn(roots, directory)) : null;
    if (before === undefined && now.changedMs < startedMs) return null;
    const isReplaced = before === undefined ? isNew(now) : before?.identity !== now.identity;
    if (!isReplaced && before?.settings === now.settings) return null;
    const risks = risksOf(directory);
    const mayMove = isReplaced && newRepositories === "set-aside" && !roots.includes(String(directory));
    const moved = mayMove && risks.length > 0 ? setAside(directory) : null;
    if (moved !== null) known.set(String(directory), null);
    return describe(nameIn(roots, directory), { what: isReplaced ? "created" : "changed", risks, moved });
  }

  /** One repository must not keep the others from being looked at. */
  function tryChangeOf(directory: DirectoryPath): string | null {
    try {
      return changeOf(directory);
    } catch (error) {
      return notChecked(nameIn(roots, directory), (error as Error).message);
    }
  }

  return {
    async findChanges() {
      const { directories, unreadable, isComplete } = await searchRepositories(roots, maxEntries);
      const all = new Map([...known.keys(), ...directories].map((path) => [String(path), path]));
      const sentences = [...all.values()].flatMap((directory) => tryChangeOf(directory) ?? []);
      const unsearched = unreadable.filter((path) => isChangedSince(path, startedMs));
      sentences.push(...unsearched.map((path) => notSearched(nameIn(roots, path))));
      if (!isComplete) sentences.push(tooLarge);
      return shorten(sentences);
    },
  };
}

interface Change {
  what: "created" | "changed";
  risks: string[];
  /** The new name of its `.git`. */
  moved: string | null;
}

function describe(name: string, { what, risks, moved }: Change): string {
  const fact = `This run ${what} the git repository in ${name}.`;
  if (risks.length === 0) return `${fact} Check it before you run git there or add it.`;
  const why = `git could run programs there (${risks.map(printable).join(", ")})`;
  if (moved === null) return `${fact} Check its .git before you run git here: ${why}.`;
  return `${fact} Its .git was renamed to ${moved}, because ${why}. Check it, and rename it back to use it.`;
}

const removed = (name: string) => `This run removed the .git of ${name}.`;

const notChecked = (name: string, reason: string) =>
  `The git repository in ${name} could not be checked: ${printable(reason)}. Check it before you run git there.`;

const notSearched = (name: string) =>
  `${name} cannot be read, so it was not searched for git repositories. Check it before you run git there.`;

const tooLarge =
  "The workspace is too large to be searched for git repositories that this run may have created. Check for them before you run git there.";

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

function isChangedSince(directory: DirectoryPath, ms: number): boolean {
  try {
    return (lstatSync(directory, { throwIfNoEntry: false })?.ctimeMs ?? 0) >= ms;
  } catch {
    // Its path is too long, or a directory above it cannot be entered.
    return true;
  }
}
