// Writes patches for apply_patch.

export interface LineChange {
  before: string[];
  after: string[];
}

export const addFile = (path: string, text: string): string => patch(addition(path, text));

export const replaceFile = (path: string, text: string): string =>
  patch([`*** Delete File: ${path}`, ...addition(path, text)]);

export const deleteFile = (path: string): string => patch([`*** Delete File: ${path}`]);

export const moveFile = (path: string, to: string): string => patch([`*** Update File: ${path}`, `*** Move to: ${to}`]);

/** An empty file has no last line. */
export const appendLines = (path: string, lastLine: string | undefined, text: string): string =>
  patch([
    `*** Update File: ${path}`,
    "@@",
    ...(lastLine === undefined ? [] : [` ${lastLine}`]),
    ...prefixed("+", linesOf(text)),
    "*** End of File",
  ]);

export const changeLines = (path: string, changes: LineChange[]): string =>
  patch([
    `*** Update File: ${path}`,
    ...changes.flatMap((change) => ["@@", ...prefixed("-", change.before), ...prefixed("+", change.after)]),
  ]);

/**
 * The lines that change when `from` becomes `to`. No context lines are needed: a patch is matched from the top, and an
 * earlier equal line would contain `from` too and be part of the change.
 */
export function replacementsIn(lines: string[], from: string, to: string, which: "first" | "every"): LineChange[] {
  const text = lines.join("\n");
  const changes: LineChange[] = [];
  let at = text.indexOf(from);
  while (at >= 0) {
    const begin = at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
    const end = endOfLastTouched(text, at, from);
    const before = text.slice(begin, end);
    changes.push({ before: before.split("\n"), after: substitute(before, from, to, which).split("\n") });
    at = which === "first" || end >= text.length ? -1 : text.indexOf(from, end + 1);
  }
  return changes;
}

/** The end of the last line touched by this occurrence and by those that share a line with it. */
function endOfLastTouched(text: string, at: number, from: string): number {
  for (let last = at; ; ) {
    const newline = text.indexOf("\n", last + from.length);
    const end = newline < 0 ? text.length : newline;
    const next = text.indexOf(from, last + from.length);
    if (next < 0 || next >= end) return end;
    last = next;
  }
}

const substitute = (text: string, from: string, to: string, which: "first" | "every"): string =>
  which === "first" ? text.replace(from, () => to) : text.replaceAll(from, () => to);

const addition = (path: string, text: string): string[] => [
  `*** Add File: ${path}`,
  ...(text === "" ? [] : prefixed("+", linesOf(text))),
];

const linesOf = (text: string): string[] => text.replace(/\n$/, "").split("\n");

const prefixed = (mark: string, lines: string[]): string[] => lines.map((line) => mark + line);

const patch = (lines: string[]): string => ["*** Begin Patch", ...lines, "*** End Patch", ""].join("\n");
