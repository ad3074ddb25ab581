// Writes everything that is derived from the protocol schemas: JSON Schema files, validators, tool parameter schemas.
// With --check it writes nothing and fails, naming each stale file.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import Ajv from "ajv/dist/2020.js";
import standalone from "ajv/dist/standalone/index.js";
import { rolldown } from "rolldown";
import { parse as parseToml } from "smol-toml";
import { appServerBundle } from "./app-server-schema.mjs";
import { pythonSources } from "./python-sources.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const target = join(root, "packages/protocol/generated");

// Keywords of the configuration schemas: documentation, checked at run time, containing schemas.
const documentation = new Set(["description", "$schema", "propertyNames"]);
const checked = new Set([
  ...["type", "enum", "pattern", "expected", "minimum", "exclusiveMinimum", "maximum", "minItems"],
  ...["noEffect", "worksAs"],
]);
const nested = new Set(["properties", "additionalProperties", "items", "anyOf"]);

const protocol = await loadProtocol("index.ts");
const appServer = await loadProtocol("app-server/index.ts");
const files = new Map([
  ...jsonSchemas(protocol),
  [join(target, "app-server.schema.json"), appServerSchema(appServer)],
  ...toolSchemas(protocol),
  ...validators(protocol),
  ...configShapes(protocol),
  [join(root, "packages/models/generated/catalogue.ts"), catalogueData(protocol)],
  [join(root, "docs/config.md"), configPage(protocol)],
  [join(root, "docs/exit-codes.md"), exitCodesPage(protocol)],
  [join(root, "docs/platform-config.md"), platformConfigPage(protocol)],
  ...pythonSources(),
]);
const stale = [...files].filter(([path, text]) => readOr(path) !== text).map(([path]) => path);

if (process.argv.includes("--check")) {
  for (const path of stale) console.error(`stale: ${relative(root, path)} (run: npm run generate)`);
  process.exit(stale.length === 0 ? 0 : 1);
}
for (const path of stale) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, files.get(path));
  console.log(`wrote ${relative(root, path)}`);
}

async function loadProtocol(entry) {
  const scratch = mkdtempSync(join(tmpdir(), "protocol-"));
  try {
    const bundle = await rolldown({ input: join(root, "packages/protocol/src", entry), platform: "node" });
    await bundle.write({ file: join(scratch, "protocol.mjs"), format: "esm" });
    const schemas = await import(pathToFileURL(join(scratch, "protocol.mjs")));
    const { z } = await import("zod");
    return { schemas, toJsonSchema: (schema, reused = "ref") => z.toJSONSchema(schema, { io: "input", reused }) };
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

function jsonSchemas({ schemas, toJsonSchema }) {
  const published = {
    "exec-event": schemas.ExecEvent,
    "session-line": schemas.SessionLine,
    config: schemas.Config,
    requirements: schemas.Requirements,
    "platform-config": schemas.PlatformConfig,
    "operation-frame": schemas.OperationFrame,
  };
  const written = Object.entries(published).map(([name, schema]) => [name, toJsonSchema(schema)]);
  // People open this one in their editors.
  const environment = toJsonSchema(schemas.EnvironmentFile, "inline");
  return [...written, ["environment", environment]].map(([name, schema]) => [
    join(target, `${name}.schema.json`),
    `${JSON.stringify(schema, null, 2)}\n`,
  ]);
}

function appServerSchema({ schemas }) {
  return `${JSON.stringify(appServerBundle(schemas), null, 2)}\n`;
}

/** As the model gets them: without the keywords that only a validator needs. */
function toolSchemas({ schemas, toJsonSchema }) {
  const entries = Object.entries(schemas.toolArguments).map(([name, schema]) => {
    const { $schema: _, ...parameters } = toJsonSchema(schema, "inline");
    return [name, parameters];
  });
  const text = `// Generated from protocol/src/tools.ts by npm run generate.\nexport const toolSchemas = ${JSON.stringify(Object.fromEntries(entries), null, 2)} as const;\n`;
  return [[join(target, "tool-schemas.ts"), text]];
}

function validators({ schemas, toJsonSchema }) {
  const modules = {
    "session-line": { validateSessionLine: schemas.SessionLine },
    saved: { validateAuthFile: schemas.AuthFile, validateSessionName: schemas.SessionName },
    tools: Object.fromEntries(Object.entries(schemas.toolArguments)),
    operations: {
      validateFrame: schemas.OperationFrame,
      validateExec: schemas.ExecResult,
      validateRead: schemas.ReadResult,
      validateList: schemas.ListResult,
      validateSearch: schemas.SearchResult,
      validateEdit: schemas.EditResult,
      validateStatus: schemas.StatusResult,
    },
  };
  return Object.entries(modules).flatMap(([name, exported]) => [
    [join(target, `validators/${name}.js`), validatorModule(exported, toJsonSchema)],
    [join(target, `validators/${name}.d.ts`), declarations(Object.keys(exported))],
  ]);
}

// Generated code instead of zod at run time: loading zod costs 48 ms of CPU at every start, this costs next to none.
// No formats and no lengths keep the output free of imports.
function validatorModule(exported, toJsonSchema) {
  const ajv = new Ajv({ code: { source: true, esm: true }, strict: false, validateFormats: false });
  const names = {};
  for (const [name, schema] of Object.entries(exported)) {
    ajv.addSchema({ ...toJsonSchema(schema), $id: name });
    names[name] = name;
  }
  return `// Generated from the protocol schemas by npm run generate.\n${standalone(ajv, names)}\n`;
}

/**
 * What a value at each key must be, as far as `inspect` of the project package reads it. A validator of generated code
 * would be 120 KB and cost every start with a configuration 5 ms; this is 8 KB.
 */
function configShapes({ schemas, toJsonSchema }) {
  const shape = (schema) => JSON.stringify(bare(toJsonSchema(schema, "inline")));
  const text = `// Generated from protocol/src/config.ts and requirements.ts by npm run generate.
import type { Shape } from "../src/shape.ts";

export const configShape: Shape = ${shape(schemas.Config)};
export const requirementsShape: Shape = ${shape(schemas.Requirements)};
`;
  // Apart: only a run with a models.toml needs it.
  const models = `// Generated from protocol/src/models-file.ts by npm run generate.
import type { Shape } from "../src/shape.ts";

export const modelsShape: Shape = ${shape(schemas.ModelsFile)};
`;
  return [
    [join(target, "config-shapes.ts"), text],
    [join(target, "models-shape.ts"), models],
  ];
}

/** Without sources and dates, which no run needs. */
function catalogueData({ schemas }) {
  const entries = schemas.ModelsFile.parse(
    parseToml(readFileSync(join(root, "packages/models/catalogue.toml"), "utf8")),
  );
  const rows = Object.entries(entries).map(([name, { source, date, ...facts }]) => {
    if (!source || !date) throw new Error(`catalogue.toml: ${name} has no source or no date`);
    return `  ${JSON.stringify(name)}: ${JSON.stringify(facts)},`;
  });
  return `// Generated from catalogue.toml by npm run generate.
import type { ModelsFile } from "@agentcli/protocol";

export const catalogue: ModelsFile = {
${rows.join("\n")}
};
`;
}

function bare(schema) {
  if (typeof schema !== "object" || Object.keys(schema).length === 0) return {};
  const unsupported = Object.keys(schema).find(
    (key) => !documentation.has(key) && !checked.has(key) && !nested.has(key),
  );
  if (unsupported)
    throw new Error(`configuration schemas may not use ${unsupported}: packages/project/src/config/inspect.ts`);
  const { properties, additionalProperties: others, items, anyOf } = schema;
  const plain = Object.entries(schema).filter(([key]) => checked.has(key));
  return {
    ...Object.fromEntries(plain),
    ...(properties
      ? { properties: Object.fromEntries(Object.entries(properties).map(([key, of]) => [key, bare(of)])) }
      : {}),
    ...(others ? { additionalProperties: bare(others) } : {}),
    ...(items ? { items: bare(items) } : {}),
    ...(anyOf ? { anyOf: anyOf.map(bare) } : {}),
  };
}

function configPage({ schemas, toJsonSchema }) {
  const rows = configRows(toJsonSchema(schemas.Config, "inline"), "");
  const requirements = configRows(toJsonSchema(schemas.Requirements, "inline"), "");
  return `<!-- Generated from packages/protocol/src/config.ts by npm run generate. -->
# Configuration keys

Where they are read from and which of them wins: [configuration](configuration.md). Anything else is an unknown key: a warning, or exit code 2 with \`--strict-config\`.

${table(rows)}

## Keys of requirements.toml

${table(requirements)}
`;
}

function table(rows, heads = ["key", "value", "meaning"]) {
  const lines = rows.map((row) => `| ${row.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`);
  return `| ${heads.join(" | ")} |\n|${heads.map(() => "---").join("|")}|\n${lines.join("\n")}`;
}

function configRows(schema, prefix) {
  const named = Object.entries(schema.properties ?? {}).flatMap(([key, property]) => {
    const name = `${prefix}${key}`;
    if (property.properties || property.additionalProperties?.properties) return configRows(property, `${name}.`);
    return [[`\`${name}\``, kindOf(property), property.description ?? ""]];
  });
  const others = schema.additionalProperties;
  return others?.properties ? [...named, ...configRows(others, `${prefix}<id>.`)] : named;
}

function kindOf(property) {
  if (property.enum) return property.enum.map((value) => `\`${value}\``).join(", ");
  if (property.type === "array")
    return `list of ${property.items.enum ? kindOf(property.items) : (property.items.type ?? property.items.anyOf[0].type)}`;
  if (property.type === "object") return property.additionalProperties?.type ? "table of strings" : "table";
  return property.type;
}

function platformConfigPage({ schemas, toJsonSchema }) {
  const rows = configRows(toJsonSchema(schemas.PlatformConfig, "inline"), "");
  const withVariables = rows.map(([key, kind, meaning]) => [key, variableOf(key), kind, meaning]);
  return `<!-- Generated from packages/protocol/src/platform-config.ts by npm run generate. -->
# Configuration keys of the platform

Where they are read from and which of them wins: [platform](platform.md#configuration). Anything else is refused.

${table(withVariables, ["key", "variable", "value", "meaning"])}
`;
}

/** Entries with user-defined names are set together, as JSON in the variable of their table. */
function variableOf(key) {
  const path = key.replaceAll("`", "").split(".<id>")[0];
  return `\`PLATFORM_${path.toUpperCase().replace(/\W/g, "_")}\``;
}

function exitCodesPage({ schemas }) {
  const rows = Object.values(schemas.exitCodes).map(({ code, when }) => `| ${code} | ${when} |`);
  return `<!-- Generated from packages/protocol/src/exit-codes.ts by npm run generate. -->
# Exit codes

The first cause wins; a signal wins over all.

| code | when |
|---|---|
${rows.join("\n")}
`;
}

function declarations(names) {
  const lines = names.map((name) => `export const ${name}: Validator;`);
  return `// Generated by npm run generate.
export interface Violation {
  instancePath: string;
  keyword: string;
  message?: string;
  params: Record<string, unknown>;
}
export interface Validator {
  (value: unknown): boolean;
  errors?: Violation[] | null;
}
${lines.join("\n")}
`;
}

function readOr(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
