// The JSON types a schema names, or gives away by what else it says.
import type { Schema } from "./walk.ts";

export function typesOf(schema: Schema): string[] {
  if (typeof schema.type === "string") return [schema.type];
  if (Array.isArray(schema.type)) return schema.type.map(String);
  if ("const" in schema) return [typeOf(schema.const)];
  if (Array.isArray(schema.enum)) return [...new Set(schema.enum.map(typeOf))];
  if ("properties" in schema) return ["object"];
  return "items" in schema ? ["array"] : [];
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value;
}
