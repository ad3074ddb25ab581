// The official description of the API, as a validator can take it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Document } from "openapi-backend";

const excerpt = join(import.meta.dirname, "../../generated/github-api.json");

export const readDescription = (path = excerpt): Document =>
  nullable(JSON.parse(readFileSync(path, "utf8"))) as Document;

/** Said beside something other than a type, it is said in a way that validators understand. */
function nullable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(nullable);
  if (typeof value !== "object" || value === null) return value;
  const mended = Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, nullable(inner)]));
  if (mended.nullable !== true) return mended;
  if ("type" in mended) return Array.isArray(mended.enum) ? { ...mended, enum: [...mended.enum, null] } : mended;
  const { nullable: _said, ...rest } = mended;
  return { anyOf: [rest, { enum: [null] }] };
}
