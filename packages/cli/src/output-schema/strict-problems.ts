// Finds what strict providers would refuse in a schema, each with its location and a fix.
import { refusedKeywords } from "./keywords.ts";
import { typesOf } from "./types.ts";
import { isObject, resolvePointer, type Schema, subschemas } from "./walk.ts";

export function findStrictProblems(root: Schema): string[] {
  return [...rootProblems(root), ...walk(root, "", root)];
}

function rootProblems(root: Schema): string[] {
  const types = typesOf(root);
  if ("anyOf" in root) return ["/anyOf: the root cannot be a choice; wrap it in an object with one property."];
  if ("$ref" in root) return ["/$ref: the root cannot be a reference; write the object itself there."];
  if (types.length === 1 && types[0] === "object") return [];
  const found = types.length === 0 ? "has no type" : `is of type ${types.join(" or ")}`;
  return [`/type: the root ${found}, but the answer must be an object; use "type": "object".`];
}

function walk(schema: Schema, pointer: string, root: Schema): string[] {
  const refused = keywordProblems(schema, pointer);
  const own = refused.length > 0 ? refused : shapeProblems(schema, pointer, root);
  const inner = subschemas(schema).flatMap((part) => {
    const location = `${pointer}${part.pointer}`;
    if (isObject(part.schema)) return walk(part.schema, location, root);
    return [`${location}: ${Array.isArray(part.schema) ? tuple : noSchema}`];
  });
  return [...own, ...inner];
}

const tuple = "a list of schemas by position is not supported; use an object with one property per position.";
const noSchema = "true and false describe nothing; give it a type.";

function keywordProblems(schema: Schema, pointer: string): string[] {
  return Object.keys(schema).flatMap((keyword) => {
    const advice = pointer === "" && keyword === "$id" ? undefined : refusedKeywords.get(keyword);
    return advice === undefined ? [] : [`${pointer}/${keyword}: ${keyword} is not supported; ${advice}.`];
  });
}

function shapeProblems(schema: Schema, pointer: string, root: Schema): string[] {
  const { $ref: reference, additionalProperties: others } = schema;
  const problems: string[] = [];
  if (typeof reference === "string") problems.push(...referenceProblems(reference, pointer, root));
  if (isObject(others) && Object.keys(others).length > 0)
    problems.push(
      `${pointer}/additionalProperties: a schema for further properties is not supported; name the properties, or use an array of objects with a name and a value.`,
    );
  const types = typesOf(schema);
  const described = types.length > 0 || "anyOf" in schema || "$ref" in schema;
  if (!described && pointer !== "") problems.push(`${pointer}: it has no type; strict providers want one everywhere.`);
  if (types.includes("array") && !("items" in schema))
    problems.push(`${pointer}/items: an array needs it, the schema of what is in it.`);
  return problems;
}

function referenceProblems(reference: string, pointer: string, root: Schema): string[] {
  const location = `${pointer}/$ref`;
  if (reference !== "#" && !reference.startsWith("#/"))
    return [`${location}: "${reference}" points outside the schema; copy it into $defs and refer to #/$defs/name.`];
  const seen = new Set<string>();
  for (let at: unknown = reference; typeof at === "string"; ) {
    if (seen.has(at)) return [`${location}: "${reference}" refers to itself and describes nothing.`];
    seen.add(at);
    const target = resolvePointer(root, at);
    if (!isObject(target)) return [`${location}: "${at}" does not exist in this schema.`];
    at = target.$ref;
  }
  return [];
}
