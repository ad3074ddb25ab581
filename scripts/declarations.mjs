// Type declarations of a built package that stand alone: what it takes from protocol is printed from the JSON Schema.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

/** The compiler writes a declaration per source file; imports of protocol are turned to the printed one. */
export function declareSdk(house) {
  const target = join(house, "packages/sdk/dist");
  const flags =
    "--ignoreConfig --declaration --emitDeclarationOnly --strict --skipLibCheck --allowImportingTsExtensions --types node";
  const language = "--target es2022 --module preserve --moduleResolution bundler";
  const source = join(house, "packages/sdk/src");
  const compiler = join(createRequire(import.meta.url).resolve("typescript/package.json"), "../bin/tsc");
  execFileSync(
    process.execPath,
    [
      compiler,
      ...flags.split(" "),
      ...language.split(" "),
      ...["--rootDir", source, "--outDir", target, join(source, "index.ts")],
    ],
    { cwd: house, stdio: ["ignore", "inherit", "inherit"] },
  );
  const schema = JSON.parse(readFileSync(join(house, "packages/protocol/generated/exec-event.schema.json"), "utf8"));
  writeFileSync(join(target, "protocol.d.ts"), protocolDeclarations(schema));
  for (const name of readdirSync(target).filter((file) => file.endsWith(".d.ts"))) {
    const text = readFileSync(join(target, name), "utf8");
    writeFileSync(
      join(target, name),
      text.replaceAll('"@agentcli/protocol"', '"./protocol.js"').replace(/(from "\.\/[\w-]+)\.ts"/g, '$1.js"'),
    );
  }
}

/** The names that the sources import from protocol. */
function protocolDeclarations(schema) {
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
