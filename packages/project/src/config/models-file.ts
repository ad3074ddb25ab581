// `models.toml` of the agent home: what the user says of models. Any mistake in it is an error with its line.
import type { ModelsFile } from "@agentcli/protocol";
import { modelsShape } from "@agentcli/protocol/models-shape";
import { ConfigError } from "./config-error.ts";
import { readIfPresent } from "./files.ts";
import { dottedKey, type Table } from "./table.ts";
import { statementsOf } from "./toml-statements.ts";

type Toml = typeof import("./toml.ts");

export async function readModelsFile(path: string): Promise<ModelsFile> {
  const [{ inspectShape }, toml] = await Promise.all([import("./inspect.ts"), import("./toml.ts")]);
  const text = readIfPresent(path) ?? "";
  const table = parseTable(text, path, toml);
  const { wrong, unknown } = inspectShape(table, modelsShape);
  const lineOf = openLines(text, toml.parse);
  const [mistake] = [
    ...wrong.map(({ path: key, message }) => ({ key, reason: message })),
    ...unknown.map(({ path: key, meant }) => ({
      key,
      reason: `unknown key ${dottedKey(key)}${meant ? ` (did you mean ${meant}?)` : ""}`,
    })),
  ].sort((left, right) => lineOf(left.key) - lineOf(right.key));
  if (mistake) throw new ConfigError(`${path} line ${lineOf(mistake.key)}: ${mistake.reason}. Fix or remove it.`);
  return table as ModelsFile;
}

function parseTable(text: string, path: string, { parse, TomlError }: Toml): Table {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [reason = ""] = error.message.split("\n");
    throw new ConfigError(`${path} line ${error.line}: ${reason.replace(/^Invalid TOML document: /, "")}. Fix it.`);
  }
}

/** The line of a key: that of the statement which sets it, or most of its path. */
function openLines(text: string, parse: Toml["parse"]): (key: string[]) => number {
  const statements = statementsOf(text, parse);
  return (key) => {
    const shared = (path: string[]) => (path.every((part, index) => part === key[index]) ? path.length : 0);
    const best = statements.toSorted((left, right) => shared(right.path) - shared(left.path))[0];
    return text.slice(0, best?.from ?? 0).split("\n").length;
  };
}
