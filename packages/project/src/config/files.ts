// Reads configuration files. A missing file is ignored; one that cannot be read or parsed is an error.
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { ConfigError } from "./config-error.ts";
import { resolvePaths } from "./relative.ts";
import { dottedKey, type Table, withoutValueAt } from "./table.ts";

export type UnknownKeys = "warn" | "refuse";

/** An inspected table, with warnings about its keys. */
export interface Inspected {
  table: Table;
  warnings: string[];
}

export async function readLayerFile(path: string, unknownKeys: UnknownKeys): Promise<Inspected | null> {
  const table = await readTable(path);
  if (table === null) return null;
  const inspection = await inspected({ table, source: path, declared: "config", unknownKeys });
  return { table: resolvePaths(inspection.table, dirname(path)), warnings: inspection.warnings };
}

export async function readTable(path: string): Promise<Table | null> {
  const text = readIfPresent(path);
  if (text === null) return null;
  const { parse } = await import("./toml.ts");
  try {
    return parse(text);
  } catch (error) {
    throw new ConfigError(`${path} is not valid TOML: ${(error as Error).message.trim()}`);
  }
}

export function readIfPresent(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw new ConfigError(`${path} cannot be read: ${message}. Fix its permissions or set AGENT_HOME elsewhere.`);
  }
}

export interface Candidate {
  table: Table;
  /** The file, or `-c`: messages begin with it. */
  source: string;
  /** The declared shape of its keys. */
  declared: "config" | "requirements";
  unknownKeys: UnknownKeys;
}

/** The known keys of a table, with warnings about unknown keys unless they are errors; a value of the wrong type always is an error. */
export async function inspected({ table, source, declared, unknownKeys }: Candidate): Promise<Inspected> {
  const { inspect } = await import("./inspect.ts");
  const { wrong, unknown } = inspect(table, declared);
  if (wrong.length > 0) throw new ConfigError(`${source}: ${wrong.join("; ")}.`);
  const messages = unknown.map(
    ({ path, meant }) => `${source}: unknown key ${dottedKey(path)}${meant ? ` (did you mean ${meant}?)` : ""}`,
  );
  if (unknownKeys === "refuse" && messages.length > 0) {
    throw new ConfigError(`${messages.join("; ")}. Fix or remove what is unknown.`);
  }
  return {
    table: unknown.reduce((known, { path }) => withoutValueAt(known, path), table),
    warnings: messages.map((message) => `${message}; it is ignored.`),
  };
}
