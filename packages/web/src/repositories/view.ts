// What of a repository a page shows, as its address says.
/** Where people are in a repository; absent: the default branch, the root. */
export interface RepositoryView {
  ref?: string;
  path?: string;
}

/** The router reads values as JSON: a branch that is called 7 is a number there. */
export function readView({ ref, path }: Record<string, unknown>): RepositoryView {
  const text = (value: unknown) => (typeof value === "string" || typeof value === "number" ? String(value) : "");
  return { ...(text(ref) !== "" && { ref: text(ref) }), ...(text(path) !== "" && { path: text(path) }) };
}
