// A schema as strict providers take it: closed objects, every property required, absence written as null.
import { sentKeywords } from "./keywords.ts";
import { typesOf } from "./types.ts";
import { isObject, mapSubschemas, type Schema } from "./walk.ts";

/** The copy that is sent; the answer is held against the user's own schema. */
export function strictForm(schema: Schema): Schema {
  // Next to a reference providers take nothing else.
  if (typeof schema.$ref === "string") return { $ref: schema.$ref };
  const sent = Object.entries(schema).filter(([keyword]) => sentKeywords.has(keyword));
  const inner = mapSubschemas(Object.fromEntries(sent), (part) => (isObject(part) ? strictForm(part) : part));
  const types = typesOf(schema);
  const typed: Schema = types.length === 0 ? inner : { ...inner, type: types.length === 1 ? types[0] : types };
  return types.includes("object") ? closed(typed, schema) : typed;
}

function closed(strict: Schema, { required }: Schema): Schema {
  const properties = isObject(strict.properties) ? strict.properties : {};
  const needed = new Set(Array.isArray(required) ? required : []);
  const entries = Object.entries(properties).map(([name, part]): [string, unknown] => [
    name,
    needed.has(name) || !isObject(part) ? part : nullable(part),
  ]);
  return {
    ...strict,
    properties: Object.fromEntries(entries),
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

/** Null stands for a property that is not there. */
function nullable(schema: Schema): Schema {
  if (Array.isArray(schema.anyOf)) return { ...schema, anyOf: [...schema.anyOf, { type: "null" }] };
  if ("$ref" in schema) return { anyOf: [schema, { type: "null" }] };
  const types = [...new Set([...typesOf(schema), "null"])];
  if ("const" in schema) return { ...withoutConst(schema), type: types, enum: [...new Set([schema.const, null])] };
  if (Array.isArray(schema.enum)) return { ...schema, type: types, enum: [...new Set([...schema.enum, null])] };
  return { ...schema, type: types };
}

const withoutConst = ({ const: _value, ...rest }: Schema): Schema => rest;
