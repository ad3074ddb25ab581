// Reads hook files of both dialects into definitions. A problem in one file does not affect the others.
import { readFileSync, statSync } from "node:fs";
import type { HookDefinition } from "@agentcli/protocol";
import { ConfigError } from "../config/config-error.ts";
import { readTable } from "../config/files.ts";
import type { HookFile } from "../config/hook-files.ts";
import { isTable } from "../config/table.ts";
import { readAgentcliFile, readAgentcliTable } from "./agentcli/definitions.ts";
import type { ReadContext, ReadDefinition, ReadHooks } from "./definition.ts";
import { readPlatformFile } from "./platform/definitions.ts";
import { type ScriptSearch, withFiles } from "./script.ts";

export interface LoadedHooks {
  definitions: HookDefinition[];
  warnings: string[];
}

export function readHookFiles(files: HookFile[], search: ScriptSearch): LoadedHooks {
  const read = files.map((file) => ({ file, ...readHookFile(file) }));
  for (const { file, problems } of read) {
    // A run must not start without the hooks its administrator requires.
    if (file.kind === "managed" && problems.length > 0) throw new ConfigError(problems.join("\n"));
  }
  return {
    definitions: read.flatMap(({ definitions }) => definitions.map((definition) => withFiles(definition, search))),
    warnings: [
      ...read.flatMap(({ problems }) => problems.map((problem) => `${problem}. This hook does not run.`)),
      ...twoForms(files),
    ],
  };
}

export function readHookFile(file: HookFile): ReadHooks {
  const reading: ReadContext = { file, problems: [] };
  const definitions = file.table ? readAgentcliTable(file.table, reading) : readJsonFile(file, reading);
  return { definitions, problems: reading.problems };
}

/** The current definition hashes of a file; none if it cannot be read. */
export async function currentHashes({ source, dialect }: HookDefinition): Promise<string[]> {
  const { kind, path } = source;
  if (path.endsWith(".json")) return hashesOf({ kind, dialect, path });
  const hooks = (await readTable(path))?.hooks;
  if (!isTable(hooks)) return [];
  const { state: _, ...table } = hooks;
  return hashesOf({ kind, dialect, path, table });
}

const hashesOf = (file: HookFile): string[] => readHookFile(file).definitions.map(({ hash }) => hash);

const maxBytes = 1_048_576;

function readJsonFile(file: HookFile, reading: ReadContext): ReadDefinition[] {
  try {
    const json = parseFile(file.path);
    return file.dialect === "agentcli" ? readAgentcliFile(json, reading) : readPlatformFile(json, reading);
  } catch (error) {
    reading.problems.push(`${file.path}: ${(error as Error).message}`);
    return [];
  }
}

/** Only regular files: opening a pipe would block. */
function parseFile(path: string): unknown {
  const stats = statSync(path);
  if (!stats.isFile()) throw new Error("this is not a file");
  if (stats.size > maxBytes) throw new Error(`the file is larger than ${maxBytes} bytes`);
  return JSON.parse(readFileSync(path, "utf8").replace(/^\uFEFF/, ""));
}

/** Both are used, but a reader of one may not know of the other. */
function twoForms(files: HookFile[]): string[] {
  return files.flatMap(({ path, table }) => {
    const beside = path.replace(/config\.toml$/, "hooks.json");
    const isTwice = table !== undefined && files.some((other) => !other.table && other.path === beside);
    return isTwice ? [`Hooks are in ${beside} and in ${path}: both run.`] : [];
  });
}
