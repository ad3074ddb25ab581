// Where a browser may be sent after it logged in: a page of ours, and nothing that only looks like one.
const standard = "/agents";

export function localPath(wanted: string): string {
  // Browsers read a backslash as a slash, and leave out tabs and line breaks.
  if (!/^\/(?![/\\])[\x21-\x7e]*$/.test(wanted) || wanted.length > 2_000) return standard;
  const base = "http://platform.invalid";
  if (!URL.canParse(wanted, base)) return standard;
  const { origin, pathname, search } = new URL(wanted, base);
  return origin === base && !pathname.startsWith("//") ? `${pathname}${search}` : standard;
}
