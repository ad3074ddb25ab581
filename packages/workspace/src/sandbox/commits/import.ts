// Imports the state of a shadow into the real repository: objects, branches, tags, HEAD, index, stash. Only git's own
// plumbing writes objects, references and index, so object names are computed from contents, names and paths are checked,
// and neither configuration nor hooks can be changed. Each change requires what it replaces to be what it was.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { IndexChange, References, RepositoryExport } from "./export.ts";
import { describeGitlinks, gitlinkMode, gitlinksAddedBy, newGitlinks } from "./gitlinks.ts";
import type { HostGit } from "./host-git.ts";
import { type OperationFiles, readOperationFiles, writeOperationFiles } from "./operation.ts";
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
}

/** Returns what stays in the sandbox, as sentences. Throws with what could not be imported; earlier steps stay. */
export async function importRepository(exported: RepositoryExport, options: ImportOptions): Promise<string[]> {
  const { git, shadow, base } = options;
  if (packedObjects(exported.pack) > 0) await git.run(["unpack-objects", "-q", "--strict"], exported.pack);
  const moves = movesBetween(base.references, exported.references);
  if (options.newGitlinks === "refused") await refuseGitlinks(tipsOf(exported, moves), git);
  await moveReferences(moves, git);
  await moveHead(exported.head, options);
  const leftOut = options.newGitlinks === "refused" ? newGitlinks(exported.changes, shadow.gitDirectory) : [];
  await changeIndex(
    exported.changes.filter((change) => !leftOut.includes(change)),
    git,
  );
  await writeStash({ base: base.stash, next: exported.stash }, git, shadow);
  const reason = writeOperationFiles(shadow.gitDirectory, base.operation, exported.operation);
  return [
    ...(leftOut.length === 0 ? [] : [`${describeGitlinks(leftOut.map(({ path }) => path))}.`]),
    ...(reason === undefined ? [] : [`The state of the merge stays in this sandbox: ${reason}`]),
    ...(exported.isUnfinished
      ? ["A rebase or sequence of picks is in progress: finish it in this turn, its state stays in this sandbox."]
      : []),
    ...exported.kept.map((name) => `The change of .git/${name} stays in this sandbox.`),
  ];
}

const packedObjects = (pack: Buffer): number => (pack.length < 12 ? 0 : pack.readUInt32BE(8));

async function moveHead(next: string, { git, shadow, base }: ImportOptions): Promise<void> {
  if (next === base.head) return;
  if (readHeadFile(shadow) !== base.head)
    throw new Error("HEAD was moved outside the sandbox, so it was not moved again. Check out the branch again.");
  const branch = /^ref: (refs\/heads\/\S+)$/.exec(next)?.[1];
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

async function refuseGitlinks(tips: string[], git: HostGit): Promise<void> {
  const added = tips.length === 0 ? [] : await gitlinksAddedBy(tips, git);
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
  if (/ missing$/m.test(checked)) throw new Error("Objects of the index are missing, so nothing was staged.");
}

/** Removes all stages first, then adds the current entries. */
function indexLines({ path, entries }: IndexChange): Buffer[] {
  const line = (text: string) => Buffer.concat([Buffer.from(`${text}\t`), path, Buffer.of(0)]);
  const none = "0".repeat(entries[0]?.object.length ?? 40);
  return [line(`0 ${none}`), ...entries.map(({ mode, object, stage }) => line(`${mode} ${object} ${stage}`))];
}
