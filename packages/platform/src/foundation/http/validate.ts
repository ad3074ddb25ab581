// Validates input against its schema; a refusal names each field and what is wrong with it.
import { z } from "zod";
import { ApiError } from "./api-error.ts";

/** In front of the name of a field, so that it can be found. */
export type Part = "body" | "query" | "path";

export function validate<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  part: Part,
  texts: "any" | "storable" = "storable",
): z.output<Schema> {
  walk(value, [], (text, path) => {
    if (texts === "storable" && text.includes("\0"))
      throw invalid([`${fieldName(path, part)}: contains a NUL character`]);
  });
  const { success, data, error } = schema.safeParse(value);
  if (!success) throw invalid(error.issues.flatMap((issue) => describe(issue, part)));
  return data;
}

/** Unknown fields are refused: a misspelt one would be ignored. What lies deeper is strict where its schema says so. */
export const strictly = <Schema extends z.ZodType>(schema: Schema): Schema =>
  (schema instanceof z.ZodObject && schema.def.catchall === undefined ? schema.strict() : schema) as Schema;

const maxNamed = 5;
const maxLength = 200;

export function invalid(complaints: string[]): ApiError {
  const named = complaints.slice(0, maxNamed).map((complaint) => complaint.slice(0, maxLength));
  const more = complaints.length > maxNamed ? ` And ${complaints.length - maxNamed} more.` : "";
  return new ApiError("validation_error", `Invalid request. ${named.map((text) => `${text}.`).join(" ")}${more}`);
}

function describe(issue: z.core.$ZodIssue, part: Part): string[] {
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => `${fieldName([...issue.path, key], part)}: unknown field`);
  if (issue.code === "invalid_union" && issue.errors.length > 0) return describeUnion(issue, part);
  return [`${fieldName(issue.path, part)}: ${issue.message.replace(/^Invalid input: /, "")}`];
}

/** The choice that fits best is the one that was meant. */
function describeUnion(issue: z.core.$ZodIssueInvalidUnion, part: Part): string[] {
  const [best = []] = [...issue.errors].sort((left, right) => misfit(left) - misfit(right));
  return best.flatMap((inner) => describe({ ...inner, path: [...issue.path, ...inner.path] }, part));
}

/** A wrong type at the top means another choice was meant. */
const misfit = (issues: z.core.$ZodIssue[]): number =>
  issues.length + (issues.some(({ path, code }) => path.length === 0 && code === "invalid_type") ? 1_000 : 0);

function fieldName(path: PropertyKey[], part: Part): string {
  const dotted = path.map(String).join(".");
  if (part === "query") return `query parameter ${dotted || "(all)"}`;
  if (part === "path") return `path parameter ${dotted || "(all)"}`;
  return dotted || "the body";
}

/** No valid request comes near; a hundred thousand brackets would exhaust the stack. */
const deepestNesting = 100;

/** Texts as they are read by `look`; PostgreSQL's hold every character but NUL. */
function walk(value: unknown, path: PropertyKey[], look: (text: string, path: PropertyKey[]) => void): void {
  if (typeof value === "string") look(value, path);
  if (typeof value !== "object" || value === null) return;
  if (path.length > deepestNesting) throw invalid([`the body: is nested deeper than ${deepestNesting} levels`]);
  for (const [key, inner] of Object.entries(value)) {
    look(key, path);
    // Record schemas would ignore it silently.
    if (key === "__proto__") throw invalid([`${[...path, key].map(String).join(".")}: unknown field`]);
    walk(inner, [...path, key], look);
  }
}
