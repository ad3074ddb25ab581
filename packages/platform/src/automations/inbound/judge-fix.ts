// Whether an agent is woken to fix a failed check of its pull request. Pure.

export interface FixFacts {
  /** Of the check: success, failure, … */
  conclusion: string | null;
  /** That the check ran on; null: the host does not say. */
  commit: string | null;
  /** What the agent has pushed, and the last of it. */
  pushed: string[];
  latest: string | null;
  /** Of the automatic fix on this pull request. */
  state: "new" | "active" | "stopped";
  /** A person has sent a follow-up to the agent since the first fix. */
  hasFollowUp: boolean;
  /** The same check fails on the branch that the pull request is for. */
  failsOnBase: boolean;
  /** So often the agent was woken for it. */
  fixes: number;
  /** By the settings of the user and the team, or for this pull request by a comment. */
  isEnabled: boolean;
}

export type FixVerdict = { kind: "fix" } | { kind: "ignored" } | { kind: "stopped"; reason: string };

export const maxFixes = 10;
const failing = ["failure", "error", "timed_out"];

export const isFailing = (conclusion: string | null): boolean => failing.includes(conclusion ?? "");

export function judgeFix(facts: FixFacts): FixVerdict {
  const { conclusion, commit, pushed, latest, state, hasFollowUp, failsOnBase, fixes } = facts;
  if (!isFailing(conclusion) || state === "stopped") return { kind: "ignored" };
  if (!facts.isEnabled) return stopped("it is turned off in the settings");
  // Of what it has replaced since.
  if (commit !== null && commit !== latest && pushed.includes(commit)) return { kind: "ignored" };
  if (commit !== null && commit !== latest) return stopped(`a person pushed ${commit.slice(0, 12)}`);
  if (hasFollowUp) return stopped("a person sent the agent a follow-up");
  if (failsOnBase) return stopped("the check fails on the base branch as well");
  if (fixes >= maxFixes) return stopped(`the agent was woken ${maxFixes} times for it`);
  return { kind: "fix" };
}

const stopped = (reason: string): FixVerdict => ({ kind: "stopped", reason });

/** What a comment says about the fix: `@<bot> autofix off`, alone on a line. */
export function readToggle(text: string): "on" | "off" | null {
  const [, word] = /^[ \t]*@[\w.-]{1,100}(?:\[bot\])?[ \t]+autofix[ \t]+(on|off)[ \t]*$/im.exec(text) ?? [];
  return (word?.toLowerCase() as "on" | "off" | undefined) ?? null;
}
