// Builds a JSON value for a simple JSON Schema from a message and whether the work succeeded.

export interface Answer {
  message: string;
  succeeded: boolean;
  steps: number;
}

/** Whether the schema is that of a review: a script cannot review code. */
export const asksForVerdict = (schema: unknown): boolean =>
  isObject(schema) && isObject(schema.properties) && "overall_correctness" in schema.properties;

export function answerInSchema(schema: unknown, answer: Answer): unknown {
  return valueFor(schema, answer, { root: schema, depth: 0 });
}

interface SchemaPosition {
  root: unknown;
  depth: number;
}

const maxDepth = 12;

function valueFor(schema: unknown, answer: Answer, position: SchemaPosition): unknown {
  if (!isObject(schema) || position.depth > maxDepth) return answer.message;
  const inner = { ...position, depth: position.depth + 1 };
  if ("const" in schema) return schema.const;
  if (Array.isArray(schema.enum)) return choose(schema.enum, answer);
  if (typeof schema.$ref === "string") return valueFor(resolve(schema.$ref, position.root), answer, inner);
  const options = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(options)) return valueFor(options[0], answer, inner);
  return typedValue(schema, answer, inner);
}

function typedValue(schema: Schema, answer: Answer, position: SchemaPosition): unknown {
  switch (typeOf(schema)) {
    case "object":
      return objectFor(schema, answer, position);
    case "array":
      return Array.from({ length: Math.min(Number(schema.minItems ?? 0), 100) }, () =>
        valueFor(schema.items, answer, position),
      );
    case "boolean":
      return answer.succeeded;
    case "integer":
    case "number":
      return clamp(schema, answer.steps);
    case "null":
      return null;
    default:
      return fitLength(schema, answer.message);
  }
}

type Schema = Record<string, unknown>;

const isObject = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function typeOf(schema: Schema): unknown {
  if (Array.isArray(schema.type)) return schema.type.find((type) => type !== "null") ?? "null";
  return schema.type ?? (isObject(schema.properties) ? "object" : "string");
}

function objectFor(schema: Schema, answer: Answer, position: SchemaPosition): Schema {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const names = Array.isArray(schema.required) ? schema.required.map(String) : Object.keys(properties);
  return Object.fromEntries(names.map((name) => [name, valueFor(properties[name], answer, position)]));
}

const good = /^(?:ok|okay|success|succeeded|pass|passed|done|completed|complete|go|yes|true)$/i;
const bad = /^(?:fail|failed|failure|error|blocked|no-go|no|false|incomplete)$/i;

/** The value that matches the outcome, otherwise the first. */
const choose = (values: unknown[], answer: Answer): unknown =>
  values.find((value) => (answer.succeeded ? good : bad).test(String(value))) ?? values[0];

function clamp(schema: Schema, value: number): number {
  const min = Number(schema.minimum ?? Number(schema.exclusiveMinimum ?? Number.NEGATIVE_INFINITY) + 1);
  const max = Number(schema.maximum ?? Number(schema.exclusiveMaximum ?? Number.POSITIVE_INFINITY) - 1);
  return Math.max(min, Math.min(max, value));
}

function fitLength(schema: Schema, text: string): string {
  const min = Math.min(Number(schema.minLength ?? 0), 10_000);
  return [...text]
    .slice(0, Number(schema.maxLength ?? text.length))
    .join("")
    .padEnd(min, ".");
}

function resolve(reference: string, root: unknown): unknown {
  const names = reference
    .replace(/^#\/?/, "")
    .split("/")
    .filter((name) => name !== "");
  return names.reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), root);
}
