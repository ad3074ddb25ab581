// Pushes the branch of an agent. Reads the remote branch first and overwrites only commits that the platform pushed.
import { randomUUID } from "node:crypto";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import {
  askGit,
  GitFailed,
  type GitLocation,
  type GitRemote,
  gitSucceeds,
  localFailure,
  messageOf,
  nowhere,
  RepositoryFault,
  readLooseCommit,
  readReferences,
  runGit,
} from "../git/index.ts";
import { CredentialFault, type PushedCommit, type SourceHost } from "../scm/index.ts";
import { indexPack, transfer } from "./copy-commit.ts";
import { packForOwner } from "./new-objects.ts";

export interface PushOptions {
  host: SourceHost;
  /** The git directory with the objects. */
  location: GitLocation;
  /** Commits that the embedded host has already. */
  known: string[];
  branch: string;
  commit: string;
  /** Our last push to the agent's own branch: the only tip that may be replaced by a commit that does not descend from it. */
  replaceable: string | undefined;
}

const pushLimitMs = 15 * 60_000;
const answerLimitMs = 45_000;

export async function pushBranch(options: PushOptions, signal: AbortSignal): Promise<void> {
  const { host, branch, commit } = options;
  const readRemoteTip = () => readTip(host, branch, signal);
  try {
    const tip = await readRemoteTip();
    if (tip !== commit) await pushOnto(tip, options, signal);
  } catch (error) {
    // A push that was started before a crash may have completed since.
    const isPushed =
      error instanceof RepositoryFault && error.code === "branch_moved" && (await readRemoteTip()) === commit;
    if (!isPushed) throw forbidden(error) ?? error;
  }
  await host.notePush(host.directory === null ? undefined : readPushed(options));
}

/** Undefined if the commit is not one that the platform has just written. */
function readPushed({ location, commit }: PushOptions): PushedCommit | undefined {
  const parsed = readLooseCommit(location, commit);
  const message = parsed && messageOf(parsed);
  return message === null ? undefined : { name: commit, message };
}

async function pushOnto(tip: string | undefined, options: PushOptions, signal: AbortSignal): Promise<void> {
  const { host, location, branch, commit, replaceable } = options;
  const follows = tip === undefined || (await isAncestor({ location, older: tip, newer: commit }, signal));
  if (!follows && tip !== replaceable) throw branchMoved(branch);
  const known = [...options.known, ...(follows && tip !== undefined ? [tip] : [])];
  if (host.directory !== null) return pushToOwn(host.directory, { ...options, known, tip }, signal);
  await host.reach((remote) => push(options, { remote, tip }, signal), signal);
}

async function readTip(host: SourceHost, branch: string, signal: AbortSignal): Promise<string | undefined> {
  const name = `refs/heads/${branch}`;
  if (host.directory !== null) return (await readReferences(host.directory, [name])).get(name);
  const text = await host.reach((remote) => {
    const args = ["ls-remote", "--", remote.address, name];
    return runGit({ location: nowhere, remote, args, limitMs: answerLimitMs }, signal);
  }, signal);
  // Git also lists references that only end with this name.
  return text
    .split("\n")
    .map((line) => line.split("\t"))
    .find(([, listed]) => listed === name)?.[0];
}

const isAncestor = (
  { location, older, newer }: { location: GitLocation; older: string; newer: string },
  signal: AbortSignal,
) => gitSucceeds({ location, args: ["merge-base", "--is-ancestor", older, newer] }, signal);

/** Into a repository of the embedded host: a connection to it would take four more processes. */
async function pushToOwn(
  directory: string,
  { location, branch, commit, known, tip }: PushOptions & { tip: string | undefined },
  signal: AbortSignal,
): Promise<void> {
  await receive(directory, { location, commit, known }, signal).catch((error: unknown) => {
    throw error instanceof GitFailed && !localFailure.test(error.stderr) ? refused(branch, error.stderr) : error;
  });
  const none = "0".repeat(commit.length);
  const input = `update refs/heads/${branch} ${commit} ${tip ?? none}\n`;
  const { code, stderr } = await askGit({ location: { directory }, args: ["update-ref", "--stdin"], input }, signal);
  if (code === 0) return;
  if (isFullDisk(stderr)) throw new GitFailed("push", stderr);
  if (/exists; cannot create|blocking reference/i.test(stderr)) throw refused(branch, stderr);
  // A concurrent push won, or still holds the lock of the reference.
  if (/cannot lock ref|unable to create/i.test(stderr)) throw branchMoved(branch);
  throw new GitFailed("push", stderr);
}

/** Checked in a directory of their own, as git does it: of objects that are refused nothing stays. */
async function receive(
  directory: string,
  { location, commit, known }: Pick<PushOptions, "location" | "commit" | "known">,
  signal: AbortSignal,
): Promise<void> {
  const objects = join(directory, `incoming-${randomUUID()}`);
  const packs = join(objects, "pack");
  try {
    await mkdir(packs, { recursive: true });
    const to = { directory, objects, borrowed: [join(directory, "objects")] };
    const pack = await packForOwner(directory, { directory: location.directory, commit, known });
    if (pack === null) await transfer({ from: location, to, commit, exclude: known, verify: "--strict" }, signal);
    else await indexPack(pack, { to, verify: "--strict" }, signal);
    // The index last: with it git takes the pack for complete.
    const names = (await readdir(packs)).sort((a, b) => Number(a.endsWith(".idx")) - Number(b.endsWith(".idx")));
    for (const name of names) await rename(join(packs, name), join(directory, "objects/pack", name));
  } finally {
    await rm(objects, { recursive: true, force: true });
  }
}

/** The lease makes the push fail if the branch moved after its tip was read. */
async function push(
  { location, branch, commit }: Pick<PushOptions, "location" | "branch" | "commit">,
  { remote, tip }: { remote: GitRemote; tip: string | undefined },
  signal: AbortSignal,
): Promise<void> {
  const name = `refs/heads/${branch}`;
  const lease = `--force-with-lease=${name}:${tip ?? ""}`;
  const args = ["push", "--porcelain", "--no-verify", lease, "--", remote.address, `${commit}:${name}`];
  const { code, out, stderr } = await askGit({ location, remote, args, limitMs: pushLimitMs }, signal);
  if (code === 0) return;
  // Git then says that it failed to update the reference, as it does for one that moved.
  if (isFullDisk(stderr))
    throw new RepositoryFault("push_rejected", "The host refused the push: its disk is full. Ask its administrator.");
  const [, verdict = "", reason = ""] = /^!\t[^\t]*\t\[([^\]]+)\](?: \((.*)\))?$/m.exec(out.toString()) ?? [];
  if (verdict === "rejected") throw branchMoved(branch);
  const isClash = /exists; cannot create|blocking reference/i.test(stderr);
  // A concurrent push won, or still holds the lock of the reference on the host.
  if (!isClash && /cannot lock ref|failed to update ref|incorrect old value/i.test(reason)) throw branchMoved(branch);
  if (verdict !== "") throw refused(branch, reasonOf(reason, stderr));
  throw new GitFailed("push", stderr);
}

const refused = (branch: string, reason: string) =>
  new RepositoryFault(
    "push_rejected",
    `The host refused the push to "${branch}": ${reason.replace(/^fatal: /, "").slice(0, 500)}.`,
  );

/** The rejection reason, with the messages of the host if there are any. */
function reasonOf(reason: string, stderr: string): string {
  const lines = stderr
    .split("\n")
    .flatMap((line) => (line.startsWith("remote: ") ? line.slice("remote: ".length).trim() : []));
  return [reason, ...lines].filter(Boolean).join("; ").slice(0, 500);
}

const branchMoved = (branch: string) =>
  new RepositoryFault(
    "branch_moved",
    `"${branch}" was changed in the meantime, so nothing was pushed to it. Bring the two together, then send a follow-up.`,
  );

const isFullDisk = (stderr: string): boolean => /no space left on device|disk quota exceeded/i.test(stderr);

function forbidden(error: unknown): RepositoryFault | undefined {
  if (error instanceof CredentialFault) {
    const { name, setCommand } = error.credential;
    return new RepositoryFault(
      "push_rejected",
      `The host refused the push with the team's ${name}. Give it write access, or set another: ${setCommand}.`,
      { cause: error },
    );
  }
  if (!(error instanceof RepositoryFault) || !(error.cause instanceof GitFailed)) return undefined;
  const { stderr } = error.cause;
  if (
    !/returned error: 40[13]|could not read Username|Authentication failed|Permission denied|access denied/i.test(
      stderr,
    )
  )
    return undefined;
  return new RepositoryFault(
    "push_rejected",
    "The platform may read the repository but not push to it. Give it access.",
    {
      cause: error,
    },
  );
}
