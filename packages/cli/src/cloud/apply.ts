// Puts a patch into the working tree: all of it, or nothing.
import type { RepositoryDiff } from "@agentcli/protocol/api";
import type { Environment } from "../environment.ts";
import { git } from "../git.ts";
import { Problem } from "../problem.ts";
import { bareAddress, type Checkout } from "./origin.ts";
import { patchBytes } from "./patch.ts";

export interface Application {
  diff: RepositoryDiff;
  root: string;
  environment: Environment;
  signal: AbortSignal;
}

/** Throws a Problem where the tree stands against it; nothing is changed then. */
export async function applyPatch({ diff, root, environment, signal }: Application): Promise<"applied" | "there"> {
  const input = patchBytes(diff);
  const attempt = (...flags: string[]) =>
    git({ directory: root, args: ["apply", "--whitespace=nowarn", ...flags, "-"], environment, input, signal });
  const check = await attempt("--check");
  if (check.code === 0) {
    const applied = await attempt();
    if (applied.code === 0) return "applied";
    throw new Problem("failed", `The changes could not be written to ${root}: ${reasonsIn(applied.stderr)}.`);
  }
  if ((await attempt("--check", "--reverse")).code === 0) return "there";
  throw new Problem(
    "failed",
    `The changes do not fit this working tree, so nothing was changed: ${reasonsIn(check.stderr)}. They were made on ${diff.baseCommit.slice(0, 12)}: commit or stash what you have, go there, and try again.`,
  );
}

const mostReasons = 5;

function reasonsIn(stderr: string): string {
  const lines = stderr.split("\n").flatMap((line) => /^error: (.+)/.exec(line)?.[1] ?? []);
  // For each file git says where, and then once more that.
  const reasons = lines.filter((line) => !line.startsWith("patch failed: "));
  const more = reasons.length - mostReasons;
  return [...reasons.slice(0, mostReasons), ...(more > 0 ? [`and ${more} more`] : [])].join("; ") || stderr.trim();
}

/** That of the repository around; the only one where the agent had one. */
export function chooseDiff(diffs: RepositoryDiff[], { remotes, root }: Checkout): RepositoryDiff {
  const own = new Set([...remotes.values()].map(bareAddress));
  const fitting = diffs.filter(({ repoUrl }) => own.has(bareAddress(repoUrl)));
  const [chosen] = fitting.length > 0 ? fitting : diffs.length === 1 ? diffs : [];
  if (chosen) return chosen;
  const names = diffs.map(({ repoUrl }) => repoUrl).join(", ");
  throw new Problem(
    "usage",
    `The agent worked on ${names}, and none of them is a remote of ${root}. Go to one of them.`,
  );
}
