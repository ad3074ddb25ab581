// Brings the outcome of a commit into the real repository: objects, index, branch. Only git's own plumbing writes,
// so names are computed from contents, paths are checked, and neither configuration nor hooks can be reached.
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { CommitOffer, IndexChange } from "./git-commit-offer.ts";
import type { CommitRepository } from "./git-commit-repository.ts";
import { mergeFiles } from "./git-commit-scripts.ts";
import type { HostGit } from "./host-git.ts";

export interface Acceptance {
  git: HostGit;
  repository: CommitRepository;
  amends: boolean;
}

/** Throws a sentence that says what could not be brought over. Steps before it stay, as they do when git itself fails. */
export async function acceptOffer(offer: CommitOffer, { git, repository, amends }: Acceptance): Promise<void> {
  if (packedObjects(offer.pack) > 0) await git.run(["unpack-objects", "-q", "--strict"], offer.pack);
  await changeIndex(offer.changes, git);
  const { tip } = repository;
  if (offer.head !== undefined && offer.head !== tip) {
    if (tip !== undefined) await checkAncestry({ from: tip, to: offer.head, amends }, git);
    await git.run(["update-ref", "-m", "commit: in the sandbox", "HEAD", offer.head, tip ?? noObject(offer.head)]);
  }
  for (const name of mergeFiles) {
    if (!offer.mergeFiles.includes(name)) rmSync(join(repository.gitDirectory, name), { force: true });
  }
}

const packedObjects = (pack: Buffer): number => (pack.length < 12 ? 0 : pack.readUInt32BE(8));

async function changeIndex(changes: IndexChange[], git: HostGit): Promise<void> {
  if (changes.length === 0) return;
  const objects = changes.flatMap(({ entries }) => entries.flatMap(({ mode, object }) => (isLink(mode) ? [] : object)));
  const known = await git.run(["cat-file", "--batch-check"], Buffer.from(`${[...new Set(objects)].join("\n")}\n`));
  const missing = / missing$/m.exec(objects.length > 0 ? known : "");
  if (missing) throw new Error("Objects that the index names were not handed over, so nothing was staged.");
  await git.run(["update-index", "-z", "--index-info"], Buffer.concat(changes.flatMap(indexLines)));
}

/** A repository inside the repository is named by its commit, which lies elsewhere. */
const isLink = (mode: string) => mode === "160000";

/** Removed first, with all its stages, then as it is now. */
function indexLines({ path, entries }: IndexChange): Buffer[] {
  const line = (text: string) => Buffer.concat([Buffer.from(`${text}\t`), path, Buffer.of(0)]);
  const none = "0".repeat(entries[0]?.object.length ?? 40);
  return [line(`0 ${none}`), ...entries.map(({ mode, object, stage }) => line(`${mode} ${object} ${stage}`))];
}

interface Move {
  from: string;
  to: string;
  amends: boolean;
}

/** A commit follows the one before it; an amended one follows its parents. Nothing else moves a branch. */
async function checkAncestry({ from, to, amends }: Move, git: HostGit): Promise<void> {
  if (await git.succeeds(["merge-base", "--is-ancestor", from, to])) return;
  const parents = amends ? (await git.run(["rev-parse", `${from}^@`])).split("\n").filter(Boolean) : undefined;
  const follows = parents?.map((parent) => git.succeeds(["merge-base", "--is-ancestor", parent, to]));
  if (follows !== undefined && (await Promise.all(follows)).every(Boolean)) return;
  throw new Error(`${to} does not follow ${from}, so the branch stays where it is.`);
}

const noObject = (like: string) => "0".repeat(like.length);
