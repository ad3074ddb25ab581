// The effective configuration: the user's config.toml with the command line's overrides on top.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "@agentcli/protocol";
import { applyOverrides } from "./overrides.ts";
import { ConfigProblem } from "./problem.ts";
import type { Table } from "./table.ts";

export interface LoadedConfig {
  config: Config;
  /** What the command line set: unlike files, it may widen the policy of a resumed thread. */
  overridden: Config;
}

export async function loadConfig(home: string, overrides: string[]): Promise<LoadedConfig> {
  const path = join(home, "config.toml");
  const text = readIfPresent(path);
  if (text === null && overrides.length === 0) return { config: {}, overridden: {} };
  const { parse } = await import("smol-toml");
  const file = text === null ? {} : await validated(parseFile(path, text, parse), path);
  const overridden = await validated(applyOverrides({}, overrides, parse), "-c");
  return { config: (await validated(applyOverrides(file as Table, overrides, parse), "-c")) as Config, overridden };
}

function readIfPresent(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw new ConfigProblem(`${path} cannot be read: ${message}. Mend its permissions or set AGENT_HOME elsewhere.`);
  }
}

function parseFile(path: string, text: string, parse: (text: string) => Table): Table {
  try {
    return parse(text);
  } catch (error) {
    throw new ConfigProblem(`${path} is not valid TOML: ${(error as Error).message.trim()}`);
  }
}

async function validated(table: Table, source: string): Promise<Config> {
  if (Object.keys(table).length === 0) return {};
  const { validateConfig } = await import("@agentcli/protocol/validators/config");
  if (validateConfig(table)) return table as Config;
  const [violation] = validateConfig.errors ?? [];
  const key = violation?.instancePath.slice(1).replaceAll("/", ".") || "configuration";
  const allowed = violation?.params.allowedValues;
  const choices = Array.isArray(allowed) ? ` (${allowed.join(", ")})` : "";
  throw new ConfigProblem(`${source}: ${key} ${violation?.message ?? "is not valid"}${choices}.`);
}
