// Comments on lines of the changes, kept in this browser until they are sent to the agent as one message.
import { indent } from "../text/indent.ts";
import type { PatchLine } from "../text/patch.ts";

export interface ReviewComment {
  id: string;
  repoUrl: string;
  path: string;
  /** Of the file before the changes for a removed line, else after them. */
  side: "before" | "after";
  line: number;
  /** The line as it was commented on: it tells whether the changes have moved since. */
  code: string;
  text: string;
}

export type Anchor = Pick<ReviewComment, "side" | "line" | "code">;

/** Null for a note of git, which belongs to no file. */
export function anchorOf({ kind, before, after, text }: PatchLine): Anchor | null {
  if (kind === "note") return null;
  const [side, line] = kind === "remove" ? (["before", before] as const) : (["after", after] as const);
  return line === null ? null : { side, line, code: text };
}

export const isSameLine = (left: Anchor, right: Anchor): boolean =>
  left.side === right.side && left.line === right.line && left.code === right.code;

/** One message for all of them, by file and line. */
export function describeComments(comments: ReviewComment[]): string {
  const sorted = [...comments].sort((left, right) => left.path.localeCompare(right.path) || left.line - right.line);
  const parts = sorted.map(({ path, side, line, code, text }, index) => {
    const where = side === "before" ? `removed line ${line}` : `line ${line}`;
    return `${index + 1}. ${path}, ${where}: ${code.trim()}\n${indent(text)}`;
  });
  return `Address these review comments on your changes.\n\n${parts.join("\n\n")}`;
}
