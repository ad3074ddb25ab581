// Arguments as models write them, made into what the schema means: "5" for 5, a null for nothing, a list as text.

/** The part of JSON Schema that the arguments of tools use. */
export interface ArgumentSchema {
  /** Several for a value that may be of either. */
  type?: string | readonly string[];
  properties?: Record<string, ArgumentSchema>;
  items?: ArgumentSchema;
  anyOf?: ArgumentSchema[];
}

export interface CoercedArguments {
  args: unknown;
  /** Names of members that the schema does not have. They are left out of `args`. */
  ignored: string[];
}

/** Values that fit no type of the schema stay as they are: the validator names them. */
export function coerceArguments(value: unknown, schema: ArgumentSchema): CoercedArguments {
  const ignored: string[] = [];
  return { args: coerce(value, schema, { path: "", ignored }), ignored };
}

interface Position {
  path: string;
  ignored: string[];
}

function coerce(value: unknown, schema: ArgumentSchema, position: Position): unknown {
  if (schema.anyOf) return coerceToOneOf(value, schema.anyOf, position);
  switch (schema.type) {
    case "number":
    case "integer":
      return typeof value === "string" ? numberIn(value) : value;
    case "boolean":
      return typeof value === "string" ? flagIn(value) : value;
    case "array":
      return coerceItems(listIn(value, schema.items), schema.items, position);
    case "object":
      return coerceMembers(objectIn(value), schema.properties ?? {}, position);
    default:
      return value;
  }
}

/** A value of one of the types stays; another becomes what the first type that can read it makes of it. */
function coerceToOneOf(value: unknown, types: ArgumentSchema[], position: Position): unknown {
  const own = types.find(({ type }) => type === typeOf(value));
  if (own) return coerce(value, own, position);
  const read = types.map((type) => coerce(value, type, position)).find((result) => result !== value);
  return read ?? value;
}

function coerceItems(value: unknown, items: ArgumentSchema | undefined, { path, ignored }: Position): unknown {
  if (!Array.isArray(value) || !items) return value;
  return value.map((item, index) => coerce(item, items, { path: `${path}${index}.`, ignored }));
}

function coerceMembers(value: unknown, properties: Record<string, ArgumentSchema>, position: Position): unknown {
  if (typeOf(value) !== "object") return value;
  const members: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value as object)) {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const path = `${position.path}${name}`;
    if (schema === undefined) position.ignored.push(path);
    else if (member !== null) members.push([name, coerce(member, schema, { ...position, path: `${path}.` })]);
  }
  return Object.fromEntries(members);
}

const numberIn = (text: string): number | string => (/^\s*[-+]?\d+(?:\.\d+)?\s*$/.test(text) ? Number(text) : text);

function flagIn(text: string): boolean | string {
  const word = text.trim().toLowerCase();
  return word === "true" || word === "false" ? word === "true" : text;
}

/** A list as JSON text, or its only text without brackets. */
function listIn(value: unknown, items: ArgumentSchema | undefined): unknown {
  if (typeof value !== "string") return value;
  const json = parsed(value);
  if (Array.isArray(json)) return json;
  return items?.type === "string" ? [value] : value;
}

function objectIn(value: unknown): unknown {
  const json = typeof value === "string" ? parsed(value) : value;
  return typeOf(json) === "object" ? json : value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return "array";
  return value === null ? "null" : typeof value;
}
