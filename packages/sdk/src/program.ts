// Finds the program that runs turns: the bundled one, or the one that the caller names.
import { accessSync, constants, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { TurnError } from "./errors.ts";

export interface ProgramCommand {
  command: string;
  /** Arguments before those of a turn. */
  leading: string[];
}

/** A name without a slash is looked up on PATH when it is started. */
export function findProgram(override: string | undefined): ProgramCommand {
  const file = override ?? bundledProgram();
  if (!/\.[cm]?js$/.test(file)) return { command: file, leading: [] };
  checkReadable(file);
  return { command: process.execPath, leading: [file] };
}

/** In a clone the package is a workspace, elsewhere it is a dependency. */
function bundledProgram(): string {
  try {
    const manifest = createRequire(import.meta.url).resolve("agentcli/package.json");
    const { bin } = JSON.parse(readFileSync(manifest, "utf8")) as { bin: { agentcli: string } };
    return join(dirname(manifest), bin.agentcli);
  } catch (cause) {
    const advice = "Install the package agentcli beside @agentcli/sdk, or set agentPathOverride.";
    throw new TurnError("not-started", `Program not found: agentcli. ${advice}`, {}, cause);
  }
}

/** Without this check Node would start, and print a long error about the file. */
function checkReadable(file: string): void {
  try {
    accessSync(file, constants.R_OK);
  } catch (cause) {
    const advice = "Correct agentPathOverride, or install the package agentcli again.";
    throw new TurnError("not-started", `Could not start ${file}: it is not readable. ${advice}`, {}, cause);
  }
}
