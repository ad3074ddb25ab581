// Pushes the branch of an agent. What the other side has is looked at first, and never overwritten unless it is ours.
import {
  askGit,
  GitFailed,
  type GitPlace,
  type GitRemote,
  gitSucceeds,
  nowhere,
  RepositoryFault,
  runGit,
} from "../git/index.ts";
import type { SourceHost } from "../scm/index.ts";

export interface PushWish {
  host: SourceHost;
  /** Has the objects. */
  place: GitPlace;
  branch: string;
  commit: string;
  /** What we pushed to a branch of our own last: only that may be replaced by what does not follow it. */
  replaceable: string | undefined;
}

const pushLimitMs = 15 * 60_000;
const answerLimitMs = 45_000;

export async function pushBranch(wish: PushWish, signal: AbortSignal): Promise<void> {
  const { host, branch, commit } = wish;
  const look = () => host.reach((remote) => readTip(remote, branch, signal), signal);
  try {
    const tip = await look();
    if (tip !== commit) await pushOnto(tip, wish, signal);
  } catch (error) {
    // A push that was begun before we were killed may have come through meanwhile.
    const isThere = error instanceof RepositoryFault && error.code === "branch_moved" && (await look()) === commit;
    if (!isThere) throw forbidden(error) ?? error;
  }
  await host.notePush();
}

async function pushOnto(tip: string | undefined, wish: PushWish, signal: AbortSignal): Promise<void> {
  const { host, place, branch, commit, replaceable } = wish;
  const follows = tip === undefined || (await isAncestor({ place, older: tip, newer: commit }, signal));
  if (!follows && tip !== replaceable) throw moved(branch);
  await host.reach((remote) => push(wish, { remote, tip }, signal), signal);
}

async function readTip(remote: GitRemote, branch: string, signal: AbortSignal): Promise<string | undefined> {
  const name = `refs/heads/${branch}`;
  const args = ["ls-remote", "--", remote.address, name];
  const lines = (await runGit({ place: nowhere, remote, args, limitMs: answerLimitMs }, signal)).split("\n");
  // It also lists names that only end like this one.
  return lines.map((line) => line.split("\t")).find(([, listed]) => listed === name)?.[0];
}

const isAncestor = ({ place, older, newer }: { place: GitPlace; older: string; newer: string }, signal: AbortSignal) =>
  gitSucceeds({ place, args: ["merge-base", "--is-ancestor", older, newer] }, signal);

/** The lease makes sure that nobody has moved the branch between the look and the push. */
async function push(
  { place, branch, commit }: PushWish,
  { remote, tip }: { remote: GitRemote; tip: string | undefined },
  signal: AbortSignal,
): Promise<void> {
  const name = `refs/heads/${branch}`;
  const lease = `--force-with-lease=${name}:${tip ?? ""}`;
  const args = ["push", "--porcelain", "--no-verify", lease, "--", remote.address, `${commit}:${name}`];
  const { code, out, said } = await askGit({ place, remote, args, limitMs: pushLimitMs }, signal);
  if (code === 0) return;
  const [, verdict = "", reason = ""] = /^!\t[^\t]*\t\[([^\]]+)\](?: \((.*)\))?$/m.exec(out.toString()) ?? [];
  if (verdict === "rejected") throw moved(branch);
  const isClash = /exists; cannot create|blocking reference/i.test(said);
  // Others came first, or come at the same time: the other side holds its own lock.
  if (!isClash && /cannot lock ref|failed to update ref|incorrect old value/i.test(reason)) throw moved(branch);
  if (verdict !== "")
    throw new RepositoryFault("push_rejected", `The host refused the push to "${branch}": ${reasonOf(reason, said)}.`);
  throw new GitFailed("push", said);
}

/** What the other side wrote, where it wrote something. */
function reasonOf(reason: string, said: string): string {
  const lines = said.split("\n").flatMap((line) => /^remote: +(.*\S)/.exec(line)?.[1] ?? []);
  return [reason, ...lines].filter(Boolean).join("; ").slice(0, 500);
}

const moved = (branch: string) =>
  new RepositoryFault(
    "branch_moved",
    `"${branch}" was changed by somebody else meanwhile, so nothing was pushed to it. Bring the two together, then send a follow-up.`,
  );

function forbidden(error: unknown): RepositoryFault | undefined {
  if (!(error instanceof RepositoryFault) || !(error.cause instanceof GitFailed)) return undefined;
  const { said } = error.cause;
  if (
    !/returned error: 40[13]|could not read Username|Authentication failed|Permission denied|access denied/i.test(said)
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
