// Where settings come from: file, environment, flags. Each layer is checked by itself, so that a mistake has a place.
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { nearest } from "@agentcli/project/nearest";
import { PlatformConfig } from "@agentcli/protocol";
import { parse, TomlError } from "smol-toml";
import { type Key, keys, readText, variableOf } from "./keys.ts";
import { SettingError } from "./setting-error.ts";

export interface Layer {
  /** A file, a variable or a flag, by the key it sets. */
  origins: Map<string, string>;
  config: PlatformConfig;
}

export function fileLayer(path: string): Layer {
  const table = readToml(path);
  const config = check(table, () => path);
  const set = keys.filter((key) => valueAt(config, key.path) !== undefined);
  return { config: withPaths(config, dirname(path)), origins: new Map(set.map(({ name }) => [name, path])) };
}

/** DATABASE_URL is what every program calls it. */
export function environmentLayer(variables: NodeJS.ProcessEnv, cwd: string): Layer {
  refuseTables(variables);
  const named = keys.flatMap((key) => {
    const names = key.name === "database_url" ? [key.variable, "DATABASE_URL"] : [key.variable];
    const name = names.find((candidate) => variables[candidate] !== undefined && variables[candidate] !== "");
    return name ? [{ key, origin: name, text: variables[name] ?? "" }] : [];
  });
  return textLayer(named, cwd);
}

/** Each setting of a table has a variable of its own: one for all of them would be ignored, and what it limits with it. */
function refuseTables(variables: NodeJS.ProcessEnv): void {
  const own = new Set(keys.map(({ variable }) => variable));
  for (const { variable, path } of keys)
    for (let depth = 1; depth < path.length; depth += 1) {
      const table = variableOf(path.slice(0, depth));
      if (!own.has(table) && variables[table])
        throw new SettingError(
          `${table}: ${path.slice(0, depth).join(".")} is a table, which no variable sets as a whole. Set each value by itself, such as ${variable}, or write the table into config.toml.`,
        );
    }
}

export function flagLayer(flags: Partial<Record<string, string>>, cwd: string): Layer {
  const named = Object.entries(flags).flatMap(([flag, text]) => {
    const key = keys.find(({ name }) => name === keyOfFlag(flag));
    return key && text !== undefined ? [{ key, origin: `--${flag}`, text }] : [];
  });
  return textLayer(named, cwd);
}

const keyOfFlag = (flag: string): string => (flag === "role" ? "roles" : flag.replaceAll("-", "_"));

interface Named {
  key: Key;
  origin: string;
  text: string;
}

function textLayer(named: Named[], cwd: string): Layer {
  const table: Record<string, unknown> = {};
  for (const { key, text } of named) setAt(table, key.path, readText(text, key.kind));
  const origins = new Map(named.map(({ key, origin }) => [key.name, origin]));
  const config = check(table, (name) => named.find(({ key }) => `${name}.`.startsWith(`${key.name}.`))?.origin ?? name);
  return { config: withPaths(config, cwd), origins };
}

function readToml(path: string): unknown {
  try {
    return parse(readFileSync(path, "utf8"));
  } catch (error) {
    const reason = error instanceof TomlError ? `line ${error.line}: ${error.message.split("\n")[0]}` : String(error);
    throw new SettingError(`The configuration ${path} cannot be read: ${reason}`, { cause: error });
  }
}

function check(table: unknown, originOf: (key: string) => string): PlatformConfig {
  const { success, data, error } = PlatformConfig.safeParse(table);
  if (!success) {
    const [issue] = error.issues;
    const name = issue?.path.join(".") ?? "";
    const wrong = issue?.message.replace(/^Invalid input: /, "");
    throw new SettingError(`${originOf(name)}: ${name}: ${wrong}. docs/platform.md lists all settings.`);
  }
  const unknown = firstUnknown(table, data, []);
  if (unknown === null) return data;
  const known = keys.map((key) => key.name);
  const meant = nearest(unknown, known);
  throw new SettingError(
    `${originOf(unknown)}: there is no setting ${unknown}.${meant ? ` Did you mean ${meant}?` : ""} docs/platform.md lists all settings.`,
  );
}

/** The schemas leave out what they do not know. */
function firstUnknown(actual: unknown, understood: unknown, path: string[]): string | null {
  if (!isTable(actual) || !isTable(understood)) return null;
  for (const [name, value] of Object.entries(actual)) {
    const here = [...path, name];
    if (!(name in understood)) return here.join(".");
    const deeper = firstUnknown(value, understood[name], here);
    if (deeper !== null) return deeper;
  }
  return null;
}

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const pathKeys = [
  ["tls_cert"],
  ["tls_key"],
  ["kek_file"],
  ["kms", "token_file"],
  ["signing_key_file"],
  ["source_hosts", "github", "private_key_file"],
];

/** A relative path means one beside the file that names it. */
function withPaths(config: PlatformConfig, base: string): PlatformConfig {
  const absolute = structuredClone(config);
  for (const path of pathKeys) {
    const value = valueAt(config, path);
    if (typeof value === "string") setAt(absolute, path, resolve(base, value));
  }
  return absolute;
}

export const valueAt = (table: unknown, path: string[]): unknown =>
  path.reduce((value: unknown, name) => (value as Record<string, unknown> | undefined)?.[name], table);

export function setAt(table: Record<string, unknown>, [name = "", ...rest]: string[], value: unknown): void {
  if (rest.length === 0) {
    table[name] = value;
    return;
  }
  const inner = (table[name] ?? {}) as Record<string, unknown>;
  table[name] = inner;
  setAt(inner, rest, value);
}
