// Puts a patch into the working tree: all of it, or nothing.
import { CommandError } from "@agentcli/command-line";
import type { Environment } from "@agentcli/host";
import { type GitRequest, git } from "@agentcli/host/git";
import { rememberPaths } from "./memory.ts";
import { bareAddress, type Checkout } from "./origin.ts";
import { patchBytes, type WholeDiff } from "./patch.ts";
import { obeyedOf, refuseSettings } from "./settings.ts";
import { touchedPaths } from "./touched.ts";
import { gitToItsEnd } from "./whole-git.ts";

export interface Application {
  diff: WholeDiff;
  root: string;
  environment: Environment;
  signal: AbortSignal;
  /** What happens to changes of settings that an agent in a sandbox could not make. */
  settings: "applied" | "refused";
}

export interface Applied {
  outcome: "applied" | "there";
  /** Paths that programs obey, or that tell agents what to do. */
  obeyed: string[];
}

/** Throws a CommandError where the tree stands against it; nothing is changed then. */
export async function applyPatch(application: Application): Promise<Applied> {
  const { diff, root, environment, signal, settings } = application;
  const input = patchBytes(diff);
  const call = (...flags: string[]) => ({
    directory: root,
    args: ["apply", "--whitespace=nowarn", ...flags, "-"],
    environment,
    input,
  });
  const attempt = (...flags: string[]) => git({ ...call(...flags), signal });
  const paths = await touchedPaths(attempt);
  const check = await attempt("--check");
  if (check.code === 0 && paths) {
    if (settings === "refused") refuseSettings(paths);
    const reason = await write(call(), root, paths);
    if (reason === null) return { outcome: "applied", obeyed: obeyedOf(paths) };
    throw refusal(diff, reason);
  }
  if (paths && (await attempt("--check", "--reverse")).code === 0) return { outcome: "there", obeyed: [] };
  throw refusal(diff, reasonsIn(check.stderr));
}

/**
 * Null where all of it is there; otherwise why not, and nothing of it is. A check of git's does not see everything: a
 * file of the user's where a folder has to be is noticed when half of the changes are written.
 */
async function write(call: GitRequest, root: string, paths: string[]): Promise<string | null> {
  const memory = await rememberPaths(root, paths);
  const { code, stderr } = await gitToItsEnd(call);
  if (code === 0) return null;
  await memory.putBack();
  return reasonsIn(stderr);
}

const refusal = ({ baseCommit }: WholeDiff, reasons: string): CommandError =>
  new CommandError(
    "failed",
    `The changes do not apply to this working tree, so nothing was changed: ${reasons}. They are based on ${baseCommit.slice(0, 12)}: commit or stash your changes, check out that commit, and try again.`,
  );

const maxReasons = 5;

function reasonsIn(stderr: string): string {
  const lines = stderr.split("\n").flatMap((line) => /^error: (.+)/.exec(line)?.[1] ?? []);
  // For each file git prints where, and then again that.
  const reasons = lines.filter((line) => !line.startsWith("patch failed: "));
  const more = reasons.length - maxReasons;
  return [...reasons.slice(0, maxReasons), ...(more > 0 ? [`and ${more} more`] : [])].join("; ") || stderr.trim();
}

/** That of the repository around; the only one where the agent had one. */
export function chooseDiff(diffs: WholeDiff[], { remotes, root }: Checkout): WholeDiff {
  const own = new Set([...remotes.values()].map(bareAddress));
  const fitting = diffs.filter(({ repoUrl }) => own.has(bareAddress(repoUrl)));
  const [chosen] = fitting.length > 0 ? fitting : diffs.length === 1 ? diffs : [];
  if (chosen) return chosen;
  const names = diffs.map(({ repoUrl }) => repoUrl).join(", ");
  throw new CommandError(
    "usage",
    `The agent worked on ${names}, and none of them is a remote of ${root}. Run this in a clone of one of them.`,
  );
}
