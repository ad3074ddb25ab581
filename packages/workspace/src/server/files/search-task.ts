// What both ways of searching are asked to do, and the list of matches both fill.
import type { SearchResult } from "@agentcli/protocol";

export type Match = Extract<SearchResult, { kind: "matches" }>["matches"][number];

export interface SearchTask {
  root: string;
  /** Agents may write here: a ripgrep below is not used. */
  untrusted: string[];
  /** Relative to the root or absolute; found paths start with it, so they can be read as they are. */
  path: string;
  startsAt: "file" | "directory";
  pattern: string;
  /** Whether a found path is of the type and in the glob that were asked for. A file that is named itself always is. */
  isWanted(path: string): boolean;
  /** The name of every wanted file matches one of these; none if that is unknown. */
  nameGlobs: string[];
  filesOnly: boolean;
  limit: number;
  timeoutMs: number;
}

export const shownCharacters = 500;

/** At most so much of a file is read for its lines. */
export const maxFileBytes = 20 * 1024 * 1024;

/** Never descended into, unless the search starts there. */
export const skippedNames = [".git", "node_modules"];

/** Takes matches in the order of the result; `add` says when enough is known. */
export function matchList(limit: number) {
  const matches: Match[] = [];
  let cut = false;
  return {
    /** Whether a line of this file is in the list. */
    has: (path: string) => matches.at(-1)?.path === path,
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
