// Whether an event of a source host starts an automation, and if not, why. Pure.
import { compileGlob } from "@agentcli/project/globs";
import type { StoredTrigger } from "../definition.ts";
import type { SourceEvent } from "./github.ts";

export type GithubTrigger = Extract<StoredTrigger, { type: "github" }>;

export type Match =
  | { kind: "start" }
  /** It is another event: there is nothing to record. */
  | { kind: "other" }
  /** It would start, but for a rule: recorded with the reason. */
  | { kind: "refused"; reason: string };

export function matchEvent(trigger: GithubTrigger, event: SourceEvent): Match {
  if (!isWanted(trigger, event)) return { kind: "other" };
  const { pullRequest } = event;
  if (pullRequest !== null && pullRequest.isFork !== false && event.event !== "pull_request.merged")
    return { kind: "refused", reason: pullRequest.isFork ? ofFork : unknownFork };
  return matchPaths(trigger.paths ?? [], event);
}

/** The last pattern that a path matches decides; one path that counts is enough. */
function matchPaths(patterns: string[], { paths, failure }: SourceEvent): Match {
  if (patterns.length === 0 || paths === "too many") return { kind: "start" };
  if (paths === null) return { kind: "refused", reason: [unknownPaths, failure].filter(Boolean).join(" ") };
  const rules = patterns.map((pattern) => ({
    isExcluded: pattern.startsWith("!"),
    matches: compileGlob(pattern.replace(/^!/, "")),
  }));
  const counts = (path: string) => rules.findLast(({ matches }) => matches(path))?.isExcluded === false;
  return paths.some(counts) ? { kind: "start" } : { kind: "other" };
}

const unknownPaths = "It is not known which paths it changes, and the trigger names paths.";

const ofFork = "Fork pull requests not supported: they can be opened by anyone.";
const unknownFork =
  "It is not known whether the pull request is of a fork: no event of it was received before. Push to it, or open it again.";

function isWanted(trigger: GithubTrigger, event: SourceEvent): boolean {
  const { branches, label, labelAction, keyword, conclusion } = trigger;
  if (trigger.event !== event.event) return false;
  if (!trigger.repos.some((url) => sameRepository(url, event.repositoryUrl))) return false;
  if (branches && branches.length > 0 && !branches.some((pattern) => matchesBranch(pattern, event.branch)))
    return false;
  if (label !== undefined && event.label?.name !== label) return false;
  if (labelAction !== undefined && labelAction !== "any" && event.label?.action !== labelAction) return false;
  if (conclusion !== undefined && event.conclusion !== conclusion) return false;
  return keyword === undefined || event.text.toLowerCase().includes(keyword.toLowerCase());
}

/** Addresses for git and for people name the same repository. */
export const sameRepository = (left: string, right: string): boolean => bare(left) === bare(right);

const bare = (url: string): string =>
  url
    .toLowerCase()
    .replace(/^[a-z+]+:\/\/([^@/]*@)?/, "")
    .replace(/\/+$/, "")
    .replace(/\.git$/, "");

/** `*` stands for any text, as in `release/*`. Without a regular expression, which many stars would make very slow. */
function matchesBranch(pattern: string, branch: string | null): boolean {
  if (branch === null) return false;
  const [first = "", ...parts] = pattern.split("*");
  const last = parts.pop();
  if (last === undefined) return branch === pattern;
  if (!branch.startsWith(first)) return false;
  let end = first.length;
  for (const part of parts) {
    const at = branch.indexOf(part, end);
    if (at < 0) return false;
    end = at + part.length;
  }
  return branch.length - last.length >= end && branch.endsWith(last);
}
