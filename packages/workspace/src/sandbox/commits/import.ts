// Imports a commit into the real repository: objects, index, branch. Only git's own plumbing writes, so object names are
// computed from contents, paths are checked, and neither configuration nor hooks can be changed.
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { CommitExport, IndexChange } from "./export.ts";
import { describeGitlinks, gitlinkMode, gitlinksAddedBy, newGitlinks } from "./gitlinks.ts";
import type { HostGit } from "./host-git.ts";
import type { CommitRepository } from "./repository.ts";
import { mergeFiles } from "./scripts.ts";

export interface ImportOptions {
  git: HostGit;
  repository: CommitRepository;
  amends: boolean;
  newGitlinks: "refused" | "allowed";
}

/**
 * Throws with what could not be imported. Earlier steps stay, as when git itself fails. Returns a sentence about what was
 * left out of the index.
 */
export async function importCommit(exported: CommitExport, options: ImportOptions): Promise<string | undefined> {
  const { git, repository, amends } = options;
  const { tip, gitDirectory } = repository;
  const isRefused = options.newGitlinks === "refused";
  if (packedObjects(exported.pack) > 0) await git.run(["unpack-objects", "-q", "--strict"], exported.pack);
  const leftOut = isRefused ? newGitlinks(exported.changes, gitDirectory) : [];
  await changeIndex(
    exported.changes.filter((change) => !leftOut.includes(change)),
    git,
  );
  if (exported.head !== undefined && exported.head !== tip) {
    if (tip !== undefined) await checkAncestry({ from: tip, to: exported.head, amends }, git);
    const added = isRefused ? await gitlinksAddedBy(exported.head, git) : [];
    if (added.length > 0) throw new Error(`${describeGitlinks(added)}. Commit again without it.`);
    await git.run([
      "update-ref",
      "-m",
      "commit: in the sandbox",
      "HEAD",
      exported.head,
      tip ?? noObject(exported.head),
    ]);
  }
  for (const name of mergeFiles) {
    if (!exported.mergeFiles.includes(name)) rmSync(join(gitDirectory, name), { force: true });
  }
  return leftOut.length === 0 ? undefined : `${describeGitlinks(leftOut.map(({ path }) => path))}.`;
}

const packedObjects = (pack: Buffer): number => (pack.length < 12 ? 0 : pack.readUInt32BE(8));

async function changeIndex(changes: IndexChange[], git: HostGit): Promise<void> {
  if (changes.length === 0) return;
  const objects = changes.flatMap(({ entries }) => entries.flatMap(({ mode, object }) => (isLink(mode) ? [] : object)));
  const checked = await git.run(["cat-file", "--batch-check"], Buffer.from(`${[...new Set(objects)].join("\n")}\n`));
  const missing = / missing$/m.exec(objects.length > 0 ? checked : "");
  if (missing) throw new Error("Objects of the index are missing, so nothing was staged.");
  await git.run(["update-index", "-z", "--index-info"], Buffer.concat(changes.flatMap(indexLines)));
}

/** A submodule entry names a commit of another repository. */
const isLink = (mode: string) => mode === gitlinkMode;

/** Removes all stages first, then adds the current entries. */
function indexLines({ path, entries }: IndexChange): Buffer[] {
  const line = (text: string) => Buffer.concat([Buffer.from(`${text}\t`), path, Buffer.of(0)]);
  const none = "0".repeat(entries[0]?.object.length ?? 40);
  return [line(`0 ${none}`), ...entries.map(({ mode, object, stage }) => line(`${mode} ${object} ${stage}`))];
}

interface BranchMove {
  from: string;
  to: string;
  amends: boolean;
}

/** A commit must descend from the branch tip; an amended one from the tip's parents. */
async function checkAncestry({ from, to, amends }: BranchMove, git: HostGit): Promise<void> {
  if (await git.succeeds(["merge-base", "--is-ancestor", from, to])) return;
  const parents = amends ? (await git.run(["rev-parse", `${from}^@`])).split("\n").filter(Boolean) : undefined;
  const follows = parents?.map((parent) => git.succeeds(["merge-base", "--is-ancestor", parent, to]));
  if (follows !== undefined && (await Promise.all(follows)).every(Boolean)) return;
  throw new Error(`${to} does not descend from ${from}, so the branch was not moved.`);
}

const noObject = (like: string) => "0".repeat(like.length);
