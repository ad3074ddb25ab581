// The name of a changed file, from the header of its diff.

/** The line that names the file depends on the kind of change. */
export function pathIn(header: string[]): string {
  const named = (mark: string) => header.find((line) => line.startsWith(mark))?.slice(mark.length);
  const after = named("+++ ");
  const before = named("--- ");
  const changed = after === undefined || after === "/dev/null" ? before : after;
  if (changed !== undefined && changed !== "/dev/null") return withoutPrefix(changed.replace(/\t$/, ""));
  const moved = named("rename to ") ?? named("copy to ");
  return moved === undefined ? sameNameTwice(header[0]?.slice("diff --git ".length) ?? "") : unquoted(moved);
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
