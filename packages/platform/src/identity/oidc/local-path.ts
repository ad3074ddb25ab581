// Validates where a browser is sent after login: a path of this server, nothing that only looks like one.
const defaultPath = "/agents";

export function localPath(requested: string): string {
  // Browsers treat a backslash as a slash and drop tabs and line breaks.
  if (!/^\/(?![/\\])[\x21-\x7e]*$/.test(requested) || requested.length > 2_000) return defaultPath;
  const base = "http://platform.invalid";
  if (!URL.canParse(requested, base)) return defaultPath;
  const { origin, pathname, search } = new URL(requested, base);
  return origin === base && !pathname.startsWith("//") ? `${pathname}${search}` : defaultPath;
}
