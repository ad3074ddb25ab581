// What both ways of searching are asked to do, and the list of matches both fill.
import type { SearchResult } from "@agentcli/protocol";

type Match = Extract<SearchResult, { kind: "matches" }>["matches"][number];

export interface SearchTask {
  root: string;
  /** Agents may write here: a ripgrep below is not used. */
  untrusted: string[];
  /** Relative to the root or absolute; found paths start with it, so they can be read as they are. */
  path: string;
  startsAt: "file" | "directory";
  pattern: string;
  include: string | undefined;
  limit: number;
  timeoutMs: number;
}

export const shownCharacters = 500;

/** Never descended into, unless the search starts there. */
export const skippedNames = [".git", "node_modules"];

/** Takes matches in the order of the result; `add` says when enough is known. */
export function matchList(limit: number) {
  const matches: Match[] = [];
  let cut = false;
  return {
    add(match: Match): "more" | "enough" {
      if (matches.length === limit) cut = true;
      else matches.push(match);
      return cut ? "enough" : "more";
    },
    cutShort() {
      cut = true;
    },
    result: () => ({ kind: "matches" as const, matches, cut }),
  };
}
