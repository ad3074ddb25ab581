// Reads configuration files. A missing file is ignored; one that cannot be read or parsed is an error.
import { dirname } from "node:path";
import { readUnblocked } from "../files/unblocked.ts";
import { ConfigError } from "./config-error.ts";
import { resolvePaths } from "./relative.ts";
import { dottedKey, type Table, valueAt, withoutValueAt } from "./table.ts";

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
    return readUnblocked(path);
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
export async function inspected({ table: written, source, declared, unknownKeys }: Candidate): Promise<Inspected> {
  const { inspect } = await import("./inspect.ts");
  const { table, replaced } = withCurrentPolicy(written);
  const { wrong, unknown, idle } = inspect(table, declared);
  if (wrong.length > 0) throw new ConfigError(`${source}: ${wrong.map(({ message }) => message).join("; ")}.`);
  const messages = unknown.map(
    ({ path, meant }) => `${source}: unknown key ${dottedKey(path)}${meant ? ` (did you mean ${meant}?)` : ""}`,
  );
  const withoutEffect = [
    ...replaced.map((value) => `${source}: approval_policy = "${value}" is treated as "on-request"`),
    // Requirements pin values; whether a key has an effect is the business of the configuration.
    ...(declared === "config" ? idle.map((path) => `${source}: ${describeIdle(table, path)}`) : []),
  ];
  if (unknownKeys === "refuse" && messages.length + withoutEffect.length > 0) {
    throw new ConfigError(`${[...messages, ...withoutEffect].join("; ")}. Fix or remove it.`);
  }
  return {
    table: unknown.reduce((known, { path }) => withoutValueAt(known, path), table),
    warnings: [
      ...messages.map((message) => `${message}; it is ignored.`),
      ...withoutEffect.map((message) => `${message}.`),
    ],
  };
}

function describeIdle(table: Table, path: string[]): string {
  const value = valueAt(table, path);
  const shown = typeof value === "boolean" ? ` = ${value}` : "";
  return `${dottedKey(path)}${shown} has no effect in agentcli`;
}

const olderPolicies = ["on-failure", "untrusted"];

/** Values that clients of older versions still send; an unattended run asks for nothing anyway. */
function withCurrentPolicy(table: Table): { table: Table; replaced: string[] } {
  const policy = table.approval_policy;
  if (typeof policy !== "string" || !olderPolicies.includes(policy)) return { table, replaced: [] };
  return { table: { ...table, approval_policy: "on-request" }, replaced: [policy] };
}
