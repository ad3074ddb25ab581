// Self-contained type declarations of built packages: types from protocol are printed from its JSON Schema.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";

/** `packages/sdk`: lines of `agentcli exec --json`. */
export function declareSdk(root) {
  const schema = JSON.parse(readFileSync(join(root, "packages/protocol/generated/exec-event.schema.json"), "utf8"));
  declarePackage(root, "sdk", "@agentcli/protocol", () => eventDeclarations(schema));
}

/** `packages/platform-sdk`: requests and responses of the platform's HTTP API. */
export async function declarePlatformSdk(root) {
  const { api, toJsonSchema } = await loadApi(root);
  declarePackage(root, "platform-sdk", "@agentcli/protocol/api", (names) => {
    const types = names.map((name) => `export type ${name} = ${typeOf(withoutReferences(toJsonSchema(api[name])))};`);
    return `// The platform's HTTP API, printed from its JSON Schema.\n${types.join("\n")}\n`;
  });
  // The local runtime is not imported by name, and its declarations refer to packages that users do not have.
  rmSync(join(root, "packages/platform-sdk/dist/local"), { recursive: true, force: true });
}

/** The compiler writes a declaration per source file; imports of protocol are redirected to the printed one. */
function declarePackage(root, name, protocol, print) {
  const target = join(root, "packages", name, "dist");
  const flags =
    "--ignoreConfig --declaration --emitDeclarationOnly --strict --skipLibCheck --allowImportingTsExtensions --types node";
  const language = "--target es2022 --lib es2023 --module preserve --moduleResolution bundler";
  const source = join(root, "packages", name, "src");
  const compiler = join(createRequire(import.meta.url).resolve("typescript/package.json"), "../bin/tsc");
  execFileSync(
    process.execPath,
    [
      compiler,
      ...flags.split(" "),
      ...language.split(" "),
      ...["--rootDir", source, "--outDir", target, join(source, "index.ts")],
    ],
    { cwd: root, stdio: ["ignore", "inherit", "inherit"] },
  );
  const files = readdirSync(target).filter((file) => file.endsWith(".d.ts"));
  const texts = new Map(files.map((file) => [file, readFileSync(join(target, file), "utf8")]));
  for (const [file, text] of texts)
    writeFileSync(
      join(target, file),
      text.replaceAll(`"${protocol}"`, '"./protocol.js"').replace(/(from "\.\/[\w-]+)\.ts"/g, '$1.js"'),
    );
  writeFileSync(join(target, "protocol.d.ts"), print(importedFrom(protocol, [...texts.values()])));
}

/** Each exported name once. */
function importedFrom(module, texts) {
  const lists = texts.flatMap((text) => [...text.matchAll(/(?:import|export) type \{([^}]*)\} from "([^"]+)"/g)]);
  const names = lists.filter(([, , from]) => from === module).flatMap(([, list]) => list.split(","));
  return [...new Set(names.map((name) => name.trim().split(" ")[0]))].filter((name) => name !== "").sort();
}

async function loadApi(root) {
  const scratch = mkdtempSync(join(tmpdir(), "protocol-api-"));
  try {
    const bundle = await rolldown({ input: join(root, "packages/protocol/src/api/index.ts"), platform: "node" });
    await bundle.write({ file: join(scratch, "api.mjs"), format: "esm" });
    const api = await import(pathToFileURL(join(scratch, "api.mjs")));
    const { z } = await import("zod");
    return { api, toJsonSchema: (schema) => z.toJSONSchema(schema, { io: "output", unrepresentable: "any" }) };
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

/** A recursive definition becomes any JSON. */
function withoutReferences({ $defs = {}, ...schema }) {
  const resolve = (value, open) => {
    if (Array.isArray(value)) return value.map((item) => resolve(item, open));
    if (typeof value !== "object" || value === null) return value;
    const name = value.$ref?.replace("#/$defs/", "");
    if (name !== undefined) return open.includes(name) || !$defs[name] ? {} : resolve($defs[name], [...open, name]);
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner, open)]));
  };
  return resolve(schema, []);
}

/** The names that the sources of the SDK import. */
function eventDeclarations(schema) {
  const definitions = Object.entries(schema.$defs ?? {}).map(
    ([name, definition]) => `type ${name} = ${typeOf(definition)};`,
  );
  return `// Lines of \`agentcli exec --json\`, printed from their JSON Schema.
${definitions.join("\n")}
export type ExecEvent = ${typeOf(schema)};
type EventOf<T extends ExecEvent["type"]> = Extract<ExecEvent, { type: T }>;
export type ThreadItem = EventOf<"item.completed">["item"];
export type EventUsage = EventOf<"turn.completed">["usage"];
export type SandboxMode = EventOf<"thread.started">["sandbox"]["mode"];
`;
}

function typeOf(schema) {
  if (schema.$ref) return schema.$ref.replace("#/$defs/", "");
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices) return choices.map((choice) => typeOf(choice)).join(" | ");
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type })).join(" | ");
  if (schema.type === "array") return `(${typeOf(schema.items ?? {})})[]`;
  if (schema.type === "object") return objectType(schema);
  const plain = { string: "string", number: "number", integer: "number", boolean: "boolean", null: "null" };
  return plain[schema.type] ?? "unknown";
}

function objectType({ properties, required = [], additionalProperties: others }) {
  if (!properties) return `{ [key: string]: ${typeOf(others || {})} }`;
  const members = Object.entries(properties).map(([name, property]) => {
    const comment = property.description ? `/** ${property.description} */ ` : "";
    return `${comment}${JSON.stringify(name)}${required.includes(name) ? "" : "?"}: ${typeOf(property)}`;
  });
  return `{ ${members.join("; ")} }`;
}
