// The official description of the API, in a form that validators accept.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Document } from "openapi-backend";

const excerpt = join(import.meta.dirname, "../../generated/github-api.json");

/** The whole has a second path for the same address, of which a router finds either one. */
const doubled = "/repos/{owner}/{repo}/compare/{base}...{head}";

export function readDescription(path = excerpt): Document {
  const { paths, ...rest } = JSON.parse(readFileSync(path, "utf8"));
  const { [doubled]: _doubled, ...single } = paths;
  return nullable({ ...rest, paths: single }) as Document;
}

/** Rewrites `nullable` beside anything but a type, which validators ignore, as `anyOf`. */
function nullable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(nullable);
  if (typeof value !== "object" || value === null) return value;
  const converted = Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, nullable(inner)]));
  if (converted.nullable !== true) return converted;
  if ("type" in converted)
    return Array.isArray(converted.enum) ? { ...converted, enum: [...converted.enum, null] } : converted;
  const { nullable: _nullable, ...rest } = converted;
  return { anyOf: [rest, { enum: [null] }] };
}
