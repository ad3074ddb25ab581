// Request bodies checked by an OpenAPI document, with all objects closed: a member that the document does not name is
// refused, though JSON Schema would let it pass.
import { readFileSync } from "node:fs";
import Ajv2020 from "ajv/dist/2020.js";

type Schema = Record<string, unknown>;

/** What the schema of this name in the document finds wrong with a body; empty if nothing. */
export function openApiCheck(file: string, name: string): (body: unknown) => string {
  const document = JSON.parse(readFileSync(file, "utf8")) as { components: { schemas: Record<string, Schema> } };
  const definitions = Object.entries(document.components.schemas).flatMap(([each, schema]) => [
    [each, closed(schema)],
    [`${each}.part`, part(schema)],
  ]);
  const ajv = new Ajv2020({ strict: false, validateFormats: false, validateSchema: false });
  const validate = ajv.compile({ $ref: `#/$defs/${name}`, $defs: Object.fromEntries(definitions) });
  return (body) => (validate(body) ? "" : ajv.errorsText(validate.errors));
}

/** The schema as a whole: what none of its parts names is refused. */
function closed(schema: unknown): unknown {
  const converted = convert(schema);
  if (!isSchema(schema) || !isSchema(converted)) return converted;
  const isObject = "properties" in schema || (Array.isArray(schema.allOf) && schema.allOf.some(isSchema));
  return isObject && !("additionalProperties" in schema) ? { ...converted, unevaluatedProperties: false } : converted;
}

/** One of several that apply together: it stays open, the whole is closed. */
function part(schema: unknown): unknown {
  const converted = convert(schema);
  if (!isSchema(converted) || typeof converted.$ref !== "string") return converted;
  return { ...converted, $ref: `${converted.$ref}.part` };
}

function convert(schema: unknown): unknown {
  if (!isSchema(schema)) return schema;
  return Object.fromEntries(Object.entries(schema).flatMap(([key, value]) => member(key, value)));
}

function member(key: string, value: unknown): [string, unknown][] {
  if (key === "$ref") return [[key, String(value).replace("#/components/schemas/", "#/$defs/")]];
  if (ignored.has(key)) return [];
  if (key === "properties" && isSchema(value))
    return [[key, Object.fromEntries(Object.entries(value).map(([name, each]) => [name, closed(each)]))]];
  if (key === "allOf" && Array.isArray(value)) return [[key, value.map(part)]];
  // Alternatives of the document overlap; which one applies is for the server.
  if ((key === "oneOf" || key === "anyOf") && Array.isArray(value)) return [["anyOf", value.map(closed)]];
  return [[key, key === "items" || key === "additionalProperties" ? closed(value) : value]];
}

/** Of no effect on what is valid, or unknown to the dialect of JSON Schema that OpenAPI 3.1 uses. */
const ignored = new Set(["discriminator", "default", "example", "nullable", "$recursiveAnchor", "$recursiveRef"]);

const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);
