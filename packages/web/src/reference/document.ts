// The OpenAPI document that the platform serves, as a list of operations with their fields and examples. Pure.
export interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  description?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  examples?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  minimum?: number;
  pattern?: string;
}

type Content = Record<string, { schema?: Schema }>;

interface Parameter {
  name: string;
  in: "path" | "query";
  required: boolean;
  description?: string;
  schema: Schema;
}

interface RawOperation {
  operationId: string;
  summary: string;
  tags: string[];
  "x-scope"?: string;
  parameters: Parameter[];
  requestBody?: { required: boolean; content: Content };
  responses: Record<string, { description: string; content?: Content }>;
}

export interface ApiDocument {
  servers: { url: string }[];
  paths: Record<string, Record<string, RawOperation>>;
  components: { schemas: Record<string, Schema> };
}

export interface Operation {
  id: string;
  method: string;
  path: string;
  summary: string;
  tag: string;
  scope: string | null;
  parameters: Parameter[];
  body: { schema: Schema; isRequired: boolean } | null;
  answer: { status: string; description: string; schema: Schema | null };
  problems: { status: string; codes: string }[];
}

export const readOperations = ({ paths }: ApiDocument): Operation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, raw]) => readOperation({ path, method, raw })),
  );

function readOperation({ path, method, raw }: { path: string; method: string; raw: RawOperation }): Operation {
  const body = raw.requestBody?.content["application/json"]?.schema;
  const entries = Object.entries(raw.responses);
  const [status = "", answer] = entries.find(([code]) => code.startsWith("2")) ?? [];
  return {
    ...{ id: raw.operationId, method: method.toUpperCase(), path, summary: raw.summary },
    ...{ tag: raw.tags[0] ?? "", scope: raw["x-scope"] ?? null, parameters: raw.parameters },
    body: body === undefined ? null : { schema: body, isRequired: raw.requestBody?.required ?? false },
    answer: {
      ...{ status, description: answer?.description ?? "" },
      schema: answer?.content?.["application/json"]?.schema ?? null,
    },
    problems: entries
      .filter(([code]) => !code.startsWith("2"))
      .map(([code, { description }]) => ({ status: code, codes: description })),
  };
}

/** Those that have every word of the search, by tag in the order of the document. */
export function groupOperations(operations: Operation[], search: string): [tag: string, found: Operation[]][] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const groups = new Map<string, Operation[]>();
  for (const operation of operations) {
    const text = `${operation.method} ${operation.path} ${operation.summary} ${operation.tag}`.toLowerCase();
    if (!words.every((word) => text.includes(word))) continue;
    const tag = capitalized(operation.tag);
    groups.set(tag, [...(groups.get(tag) ?? []), operation]);
  }
  return [...groups];
}

const capitalized = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

export type Schemas = ApiDocument["components"]["schemas"];

const maxDepth = 6;

function resolve(schema: Schema, schemas: Schemas): Schema {
  const name = schema.$ref?.split("/").at(-1);
  const found = name === undefined ? schema : (schemas[name] ?? {});
  const [first] = found.anyOf ?? found.oneOf ?? found.allOf ?? [];
  return first === undefined || found.properties
    ? found
    : { description: found.description, ...resolve(first, schemas) };
}

/** A value that the schema allows, with what is required and a few of the rest. */
export function exampleOf(schema: Schema, schemas: Schemas, depth = 0): unknown {
  const found = resolve(schema, schemas);
  if (found.const !== undefined) return found.const;
  if (found.examples?.[0] !== undefined) return found.examples[0];
  if (found.default !== undefined) return found.default;
  if (found.enum) return found.enum[0];
  const type = typeOf(found);
  if (type === "array") return found.items && depth < maxDepth ? [exampleOf(found.items, schemas, depth + 1)] : [];
  if (type === "object") return objectExample(found, schemas, depth);
  if (type === "boolean") return true;
  if (type === "integer" || type === "number") return Math.max(found.minimum ?? 1, 1);
  return type === "null" ? null : textExample(found);
}

function objectExample(schema: Schema, schemas: Schemas, depth: number): Record<string, unknown> {
  const { properties = {}, required = [] } = schema;
  if (depth >= maxDepth) return {};
  const names = Object.keys(properties).filter((name) => required.includes(name) || depth === 0);
  return Object.fromEntries(
    names.slice(0, maxMembers).map((name) => {
      const example = exampleOf(properties[name] ?? {}, schemas, depth + 1);
      return [name, example === unnamed ? textFor(name) : example];
    }),
  );
}

const maxMembers = 12;

const textExample = ({ format, pattern, description }: Schema): string => {
  if (format === "date-time") return "2026-01-31T09:30:00.000Z";
  if (format === "uri" || format === "url") return "https://example.com";
  if (pattern?.includes("[0-9a-f]{40}")) return "0".repeat(40);
  const [, named] = /^`?([a-z]{2,4}-[A-Za-z<>-]+)`?/.exec(description ?? "") ?? [];
  return named ?? unnamed;
};

const unnamed = "text";

/** By the names that members of this API have. */
const texts: [RegExp, string][] = [
  [/^(?:importUrl|repository|repoUrl)$/, "https://github.com/owner/name"],
  [/ur[li]$|^endpoint$/i, "https://example.com/path"],
  [/email$/i, "ada@example.com"],
  [/^(?:text|prompt)$/, "Fix the failing test"],
  [/^(?:name|title)$/, "shop"],
  [/branch$|^(?:ref|startingRef|head|base)$/i, "main"],
  [/commit$/i, "0".repeat(40)],
  [/^path$/, "README.md"],
  [/at$/, "2026-01-31T09:30:00.000Z"],
];

const textFor = (name: string): string => texts.find(([names]) => names.test(name))?.[1] ?? unnamed;

export function typeOf({ type, properties, items, enum: values, const: only }: Schema): string {
  if (only !== undefined || values) return "one of";
  if (Array.isArray(type)) return type.find((one) => one !== "null") ?? "null";
  return type ?? (properties ? "object" : items ? "array" : "any");
}

export interface FieldRow {
  name: string;
  type: string;
  isRequired: boolean;
  description: string;
}

const maxRows = 60;

/** Members with those below them: `prompt.text`, `repos[].url`. */
export function listFields(schema: Schema, schemas: Schemas, above = ""): FieldRow[] {
  const { properties = {}, required = [] } = resolve(schema, schemas);
  const depth = above.split(".").length;
  const rows = Object.entries(properties).flatMap(([key, member]) => {
    const found = resolve(member, schemas);
    const item = found.items && resolve(found.items, schemas);
    const name = `${above}${key}`;
    const row = {
      ...{ name, type: describeType(found, item), isRequired: required.includes(key) },
      description: member.description ?? found.description ?? "",
    };
    if (depth > 2) return [row];
    if (item?.properties) return [row, ...listFields(item, schemas, `${name}[].`)];
    return found.properties ? [row, ...listFields(found, schemas, `${name}.`)] : [row];
  });
  return rows.slice(0, maxRows);
}

function describeType(schema: Schema, item: Schema | undefined): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const type = typeOf(schema);
  return type === "array" && item ? `array of ${describeType(item, undefined)}` : type;
}

/** A request with curl. */
export function curlOf(operation: Operation, url: string, schemas: Schemas): string {
  const { method, path, parameters, body } = operation;
  const required = parameters.filter((one) => one.in === "query" && one.required);
  const query = required.map(({ name, schema }) => `${name}=${encodeURIComponent(String(exampleOf(schema, schemas)))}`);
  const address = `${url}${path.replace(/\{(\w+)\}/g, (_, name: string) => `$${name.toUpperCase()}`)}`;
  const lines = [
    `curl${method === "GET" ? "" : ` --request ${method}`} "${address}${query.length > 0 ? `?${query.join("&")}` : ""}"`,
    `  --header "Authorization: Bearer $PLATFORM_API_KEY"`,
  ];
  if (body) {
    const example = JSON.stringify(exampleOf(body.schema, schemas), null, 2).replaceAll("'", "'\\''");
    lines.push(`  --header "Content-Type: application/json"`, `  --data '${example}'`);
  }
  return lines.join(" \\\n");
}
