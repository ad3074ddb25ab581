// Imports the state of a shadow into the real repository: objects, branches, tags, HEAD, index, stash. Only git's own
// plumbing writes objects, references and index, so object names are computed from contents, names and paths are checked,
// and neither configuration nor hooks can be changed. Each change requires what it replaces to be what it was.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { IndexChange, References, RepositoryExport } from "./export.ts";
import { describeGitlinks, gitlinkMode, gitlinksAddedBy, newGitlinks } from "./gitlinks.ts";
import type { HostGit } from "./host-git.ts";
import { changedPrograms, describePrograms } from "./named-programs.ts";
import { listNewCommits } from "./new-commits.ts";
import { commitsInOperation, type OperationFiles, readOperationFiles, writeOperationFiles } from "./operation.ts";
import { moveReferences, movesBetween, type ReferenceMove } from "./references.ts";
import type { Shadow } from "./shadow.ts";
import { commitsOf, readStash, writeStash } from "./stash.ts";

/** The real repository as the shadow last saw it. */
export interface BaseState {
  head: string;
  references: References;
  stash: Buffer | undefined;
  operation: OperationFiles;
}

export const readBaseState = (shadow: Shadow, references: References): BaseState => ({
  head: readHeadFile(shadow),
  references,
  stash: readStash(shadow),
  operation: readOperationFiles(shadow.gitDirectory),
});

const readHeadFile = ({ gitDirectory }: Shadow) => readFileSync(join(gitDirectory, "HEAD"), "utf8").trim();

export interface ImportOptions {
  git: HostGit;
  shadow: Shadow;
  base: BaseState;
  newGitlinks: "refused" | "allowed";
  /** Files and directories of the working tree that git reads or runs because settings name them, relative to its top. */
  programs: string[];
}

/** Sentences. */
export interface ImportResult {
  /** What stays in the sandbox. */
  notes: string[];
  /** What the user should check before git uses it. */
  warnings: string[];
}

/** Throws with what could not be imported; earlier steps stay. */
export async function importRepository(exported: RepositoryExport, options: ImportOptions): Promise<ImportResult> {
  const { git, shadow, base } = options;
  if (packedObjects(exported.pack) > 0) await git.run(["unpack-objects", "-q", "--strict"], exported.pack);
  const moves = movesBetween(base.references, exported.references);
  const commits = await listNewCommits(tipsOf(exported, moves), git);
  const operation = await judgeOperation(exported.operation, options);
  if (options.newGitlinks === "refused") await refuseGitlinks(commits, git);
  const programs = await changedPrograms({ commits: [...commits, ...operation.commits], ...exported }, options);
  await moveReferences(moves, git);
  await moveHead(exported.head, options);
  const leftOut = options.newGitlinks === "refused" ? newGitlinks(exported.changes, shadow.gitDirectory) : [];
  await changeIndex(
    exported.changes.filter((change) => !leftOut.includes(change)),
    git,
  );
  await writeStash({ base: base.stash, next: exported.stash }, git, shadow);
  const reason = operation.reason ?? writeOperationFiles(shadow.gitDirectory, base.operation, exported.operation);
  const notes = [
    ...(leftOut.length === 0 ? [] : [`${describeGitlinks(leftOut.map(({ path }) => path))}.`]),
    ...(reason === undefined ? [] : [`The state of the merge stays in this sandbox: ${reason}`]),
    ...(exported.isUnfinished
      ? ["A rebase or sequence of picks is in progress: finish it in this turn, its state stays in this sandbox."]
      : []),
    ...exported.kept.map((name) => `The change of .git/${name} stays in this sandbox.`),
  ];
  return { notes, warnings: programs.map(describePrograms) };
}

/** The commits that a merge, cherry-pick or reset in progress names become reachable by its files. */
async function judgeOperation(
  operation: OperationFiles,
  { git, base, newGitlinks }: ImportOptions,
): Promise<{ commits: string[]; reason?: string }> {
  const before = commitsInOperation(base.operation);
  const named = commitsInOperation(operation).filter((commit) => !before.includes(commit));
  try {
    const commits = await listNewCommits(named, git);
    const added = newGitlinks === "refused" ? await gitlinksAddedBy(commits, git) : [];
    return added.length === 0 ? { commits } : { commits: [], reason: `${describeGitlinks(added)}.` };
  } catch {
    return { commits: [], reason: "its commits are not in the repository." };
  }
}

const packedObjects = (pack: Buffer): number => (pack.length < 12 ? 0 : pack.readUInt32BE(8));

async function moveHead(next: string, { git, shadow, base }: ImportOptions): Promise<void> {
  if (next === base.head) return;
  if (readHeadFile(shadow) !== base.head)
    throw new Error("HEAD was moved outside the sandbox, so it was not moved again. Check out the branch again.");
  // As for branches: git and people would take such a name for an option.
  const branch = /^ref: (refs\/heads\/(?!-)\S+)$/.exec(next)?.[1];
  const message = `checkout: moving from ${shortName(base.head)} to ${shortName(next)}`;
  if (branch !== undefined) await git.run(["symbolic-ref", "-m", message, "HEAD", branch]);
  else if (isCommitName(next)) await git.run(["update-ref", "--no-deref", "-m", message, "HEAD", `${next}^{commit}`]);
  else throw new Error("HEAD names neither a branch nor a commit, so it was not moved.");
}

const shortName = (head: string) => head.replace(/^ref: refs\/heads\//, "");

/** All commits that become reachable. */
const tipsOf = ({ head, stash }: RepositoryExport, moves: ReferenceMove[]): string[] => [
  ...moves.flatMap(({ to }) => to ?? []),
  ...(isCommitName(head) ? [head] : []),
  ...(stash === undefined ? [] : commitsOf(stash)),
];

const isCommitName = (text: string) => /^[0-9a-f]{40,64}$/.test(text);

async function refuseGitlinks(commits: string[], git: HostGit): Promise<void> {
  const added = await gitlinksAddedBy(commits, git);
  if (added.length > 0) throw new Error(`${describeGitlinks([...new Set(added)])}. Commit again without it.`);
}

async function changeIndex(changes: IndexChange[], git: HostGit): Promise<void> {
  if (changes.length === 0) return;
  await requireObjects(changes, git);
  await git.run(["update-index", "-z", "--index-info"], Buffer.concat(changes.flatMap(indexLines)));
}

async function requireObjects(changes: IndexChange[], git: HostGit): Promise<void> {
  const objects = changes.flatMap(({ entries }) =>
    entries.flatMap(({ mode, object }) => (mode === gitlinkMode ? [] : object)),
  );
  if (objects.length === 0) return;
  const checked = await git.run(["cat-file", "--batch-check"], Buffer.from(`${[...new Set(objects)].join("\n")}\n`));
  if (/ missing$/m.test(checked))
    throw new Error(
      "Staged files have no objects in the sandbox, so nothing was staged. Stage them again with git add.",
    );
}

/** Removes all stages first, then adds the current entries. */
function indexLines({ path, entries }: IndexChange): Buffer[] {
  const line = (text: string) => Buffer.concat([Buffer.from(`${text}\t`), path, Buffer.of(0)]);
  const none = "0".repeat(entries[0]?.object.length ?? 40);
  return [line(`0 ${none}`), ...entries.map(({ mode, object, stage }) => line(`${mode} ${object} ${stage}`))];
}
