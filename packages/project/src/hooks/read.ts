// Hook files as definitions, whichever dialect they are in. What is wrong in one file leaves the others alone.
import { readFileSync, statSync } from "node:fs";
import type { HookDefinition } from "@agentcli/protocol";
import { readTable } from "../config/files.ts";
import { ConfigProblem } from "../config/problem.ts";
import { isTable } from "../config/table.ts";
import { readAgentcliFile, readAgentcliTable } from "./agentcli.ts";
import type { ReadHooks, Reading, Written } from "./definition.ts";
import type { HookFile } from "./find.ts";
import { readPlatformFile } from "./platform.ts";
import { type ScriptPlace, scriptOf } from "./script.ts";

export interface LoadedHooks {
  definitions: HookDefinition[];
  warnings: string[];
}

export function readHookFiles(files: HookFile[], place: ScriptPlace): LoadedHooks {
  const read = files.map((file) => ({ file, ...readHookFile(file) }));
  for (const { file, problems } of read) {
    // A run that its administrator wants guarded does not start unguarded.
    if (file.kind === "managed" && problems.length > 0) throw new ConfigProblem(problems.join("\n"));
  }
  return {
    definitions: read.flatMap(({ definitions }) => definitions.map((written) => withScript(written, place))),
    warnings: [
      ...read.flatMap(({ problems }) => problems.map((problem) => `${problem}. This hook does not run.`)),
      ...twoForms(files),
    ],
  };
}

function withScript(written: Written, place: ScriptPlace): HookDefinition {
  if (!("command" in written)) return written;
  const directories = written.directory === undefined ? place.directories : [written.directory];
  const script = scriptOf(written.command, { ...place, directories });
  return script ? { ...written, script } : written;
}

export function readHookFile(file: HookFile): ReadHooks {
  const reading: Reading = { file, problems: [] };
  const definitions = file.table ? readAgentcliTable(file.table, reading) : readJsonFile(file, reading);
  return { definitions, problems: reading.problems };
}

/** The definition hashes a file has now; what cannot be read has none. */
export async function currentHashes({ source, dialect }: HookDefinition): Promise<string[]> {
  const { kind, path } = source;
  if (path.endsWith(".json")) return hashesOf({ kind, dialect, path });
  const hooks = (await readTable(path))?.hooks;
  if (!isTable(hooks)) return [];
  const { state: _, ...table } = hooks;
  return hashesOf({ kind, dialect, path, table });
}

const hashesOf = (file: HookFile): string[] => readHookFile(file).definitions.map(({ hash }) => hash);

const mostBytes = 1_048_576;

function readJsonFile(file: HookFile, reading: Reading): Written[] {
  try {
    const json = parseFile(file.path);
    return file.dialect === "agentcli" ? readAgentcliFile(json, reading) : readPlatformFile(json, reading);
  } catch (error) {
    reading.problems.push(`${file.path}: ${(error as Error).message}`);
    return [];
  }
}

/** Only files: opening a pipe would wait for ever. */
function parseFile(path: string): unknown {
  const stats = statSync(path);
  if (!stats.isFile()) throw new Error("this is not a file");
  if (stats.size > mostBytes) throw new Error(`the file is larger than ${mostBytes} bytes`);
  return JSON.parse(readFileSync(path, "utf8").replace(/^\uFEFF/, ""));
}

/** Both count, but whoever looks into one of them may not know of the other. */
function twoForms(files: HookFile[]): string[] {
  return files.flatMap(({ path, table }) => {
    const beside = path.replace(/config\.toml$/, "hooks.json");
    const isTwice = table !== undefined && files.some((other) => !other.table && other.path === beside);
    return isTwice ? [`Hooks are in ${beside} and in ${path}: both run.`] : [];
  });
}
