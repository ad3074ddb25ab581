// The protocol as JSON Schema files: one self-contained file per type, and all types in one document.
import { type Bundle, folderOf, type JsonSchema, mentionedIn } from "./bundle.ts";

const title = "agentcli_app_server_protocol";

/** Path to content. */
export function jsonSchemaFiles(bundle: Bundle): Map<string, string> {
  const { definitions } = bundle;
  const files = Object.keys(definitions).map((name): [string, object] => [
    [folderOf(name, bundle), `${name}.json`].filter(Boolean).join("/"),
    standalone(name, bundle),
  ]);
  return new Map(
    [...files, [`${title}.schemas.json`, nested(bundle)], [`${title}.v2.schemas.json`, flat(bundle)]].map(
      ([path, schema]) => [path as string, `${JSON.stringify(schema, null, 2)}\n`],
    ),
  );
}

function standalone(name: string, { $schema, version, definitions }: Bundle): object {
  const needed = new Set(mentionedIn(definitions[name]));
  for (const other of needed) for (const next of mentionedIn(definitions[other])) needed.add(next);
  const more = [...needed].sort().map((other) => [other, definitions[other]]);
  return {
    $schema,
    title: name,
    version,
    ...definitions[name],
    ...(more.length > 0 && { definitions: Object.fromEntries(more) }),
  };
}

const flat = ({ $schema, version, definitions }: Bundle): object => ({ $schema, title, version, definitions });

/** Types of a version are below its name. */
function nested(bundle: Bundle): object {
  const locations: Record<string, Record<string, JsonSchema>> = { "": {}, v1: {}, v2: {} };
  for (const [name, schema] of Object.entries(bundle.definitions)) {
    const location = locations[folderOf(name, bundle)];
    if (location) location[name] = moved(schema, bundle);
  }
  const { "": outside, ...versions } = locations;
  return { $schema: bundle.$schema, title, version: bundle.version, definitions: { ...outside, ...versions } };
}

/** The same schema with its references rewritten to the files of the types. */
const moved = (schema: JsonSchema, bundle: Bundle): JsonSchema =>
  JSON.parse(
    JSON.stringify(schema).replace(/"#\/definitions\/(\w+)"/g, (_, name: string) =>
      JSON.stringify(["#/definitions", folderOf(name, bundle), name].filter(Boolean).join("/")),
    ),
  );
