// Whether a JSON body has the members that a trigger requires. Pure.
import type { PayloadFilter } from "@agentcli/protocol/api";

/** Null where it has; else the first member that differs, for the record of the firing. */
export function mismatchOf(filter: PayloadFilter, body: unknown): string | null {
  for (const [path, expected] of Object.entries(filter)) {
    const found = valueAt(body, path);
    const allowed = Array.isArray(expected) ? expected : [expected];
    if (!allowed.some((value) => value === found))
      return `${path} of the body is not ${allowed.map((value) => JSON.stringify(value)).join(" or ")}`;
  }
  return null;
}

/** Own members only, so that no path leads to what every object inherits. */
function valueAt(body: unknown, path: string): unknown {
  let value = body;
  for (const name of path.split(".")) {
    if (value === null || typeof value !== "object" || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}
