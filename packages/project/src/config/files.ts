// Reads configuration files. A file that is not there is no file; one that cannot be read or parsed is a problem.
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { ConfigProblem } from "./problem.ts";
import { resolvePaths } from "./relative.ts";
import { dottedKey, type Table, withoutValueAt } from "./table.ts";

export type UnknownKeys = "warn" | "refuse";

/** A table that was inspected, with what there is to say about its keys. */
export interface Inspected {
  table: Table;
  warnings: string[];
}

export async function readLayerFile(path: string, unknownKeys: UnknownKeys): Promise<Inspected | null> {
  const table = await readTable(path);
  if (table === null) return null;
  const known = await inspected({ table, source: path, declared: "config", unknownKeys });
  return { table: resolvePaths(known.table, dirname(path)), warnings: known.warnings };
}

export async function readTable(path: string): Promise<Table | null> {
  const text = readIfPresent(path);
  if (text === null) return null;
  const { parse } = await import("smol-toml");
  try {
    return parse(text);
  } catch (error) {
    throw new ConfigProblem(`${path} is not valid TOML: ${(error as Error).message.trim()}`);
  }
}

export function readIfPresent(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw new ConfigProblem(`${path} cannot be read: ${message}. Mend its permissions or set AGENT_HOME elsewhere.`);
  }
}

export interface Candidate {
  table: Table;
  /** The file, or `-c`: messages begin with it. */
  source: string;
  /** What its keys are declared as. */
  declared: "config" | "requirements";
  unknownKeys: UnknownKeys;
}

/** What is known of a table, with warnings about the rest unless that is refused; a value of the wrong kind always is. */
export async function inspected({ table, source, declared, unknownKeys }: Candidate): Promise<Inspected> {
  const { inspect } = await import("./inspect.ts");
  const { wrong, unknown } = inspect(table, declared);
  if (wrong.length > 0) throw new ConfigProblem(`${source}: ${wrong.join("; ")}.`);
  const complaints = unknown.map(
    ({ path, meant }) => `${source}: unknown key ${dottedKey(path)}${meant ? ` (did you mean ${meant}?)` : ""}`,
  );
  if (unknownKeys === "refuse" && complaints.length > 0) {
    throw new ConfigProblem(`${complaints.join("; ")}. Mend or remove what is unknown.`);
  }
  return {
    table: unknown.reduce((known, { path }) => withoutValueAt(known, path), table),
    warnings: complaints.map((complaint) => `${complaint}; it is ignored.`),
  };
}
