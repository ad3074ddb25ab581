// Parses a unified diff of git into files and hunks. Other text yields no files.
export interface ChangedFile {
  /** Its name after the change; for a deleted file its last one. */
  path: string;
  /** Everything before the first hunk, with the names and modes. */
  header: string;
  hunks: Hunk[];
  changedLines: number;
  binary: boolean;
}

export interface Hunk {
  lines: string[];
  changedLines: number;
}

export function parseDiff(diff: string): ChangedFile[] {
  const lines = diff.split("\n").filter((line) => !line.startsWith("* Unmerged path "));
  const starts = lines.flatMap((line, index) => (line.startsWith(fileMark) ? [index] : []));
  return starts.map((start, index) => parseFile(lines.slice(start, starts[index + 1])));
}

const fileMark = "diff --git ";

function parseFile(lines: string[]): ChangedFile {
  if (lines.at(-1) === "") lines.pop();
  const starts = lines.flatMap((line, index) => (line.startsWith("@@ ") ? [index] : []));
  const header = lines.slice(0, starts[0]);
  const hunks = starts.map((start, index) => parseHunk(lines.slice(start, starts[index + 1])));
  return {
    path: pathIn(header),
    header: header.join("\n"),
    hunks,
    changedLines: hunks.reduce((total, hunk) => total + hunk.changedLines, 0),
    binary: header.some((line) => line.startsWith("Binary files ") || line === "GIT binary patch"),
  };
}

const parseHunk = (lines: string[]): Hunk => ({ lines, changedLines: countChanged(lines) });

export const countChanged = (lines: string[]): number => lines.filter((line) => /^[+-]/.test(line)).length;

/** The line that names the file depends on the kind of change. */
function pathIn(header: string[]): string {
  const named = (mark: string) => header.find((line) => line.startsWith(mark))?.slice(mark.length);
  const after = named("+++ ");
  const before = named("--- ");
  const changed = after === undefined || after === "/dev/null" ? before : after;
  if (changed !== undefined && changed !== "/dev/null") return withoutPrefix(changed.replace(/\t$/, ""));
  const moved = named("rename to ") ?? named("copy to ");
  return moved === undefined ? sameNameTwice(header[0]?.slice(fileMark.length) ?? "") : unquoted(moved);
}

/** `a/x b/x`: a change without hunks keeps its name, so both halves are equal. */
function sameNameTwice(names: string): string {
  const half = (names.length - 1) / 2;
  return withoutPrefix(names.slice(Math.ceil(half) + 1));
}

const withoutPrefix = (name: string): string => unquoted(name).replace(/^[ab]\//, "");

/** Git quotes names with control characters, quotes and backslashes as C does. */
function unquoted(name: string): string {
  if (!/^".*"$/s.test(name)) return name;
  return name.slice(1, -1).replace(/\\([0-7]{3}|.)/g, (_, code: string) => escapes[code] ?? characterOf(code));
}

const escapes: Record<string, string> = { a: "\x07", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };
const characterOf = (code: string): string =>
  code.length === 3 ? String.fromCharCode(Number.parseInt(code, 8)) : code;
