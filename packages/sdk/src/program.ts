// The program that carries out turns: the one this package ships with, or another the caller names.
import { accessSync, constants, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { TurnError } from "./errors.ts";

export interface ProgramCommand {
  command: string;
  /** What comes before the arguments of a turn. */
  leading: string[];
}

/** A name without a slash is looked for on the path when it is started. */
export function findProgram(override: string | undefined): ProgramCommand {
  const file = override ?? shippedProgram();
  if (!/\.[cm]?js$/.test(file)) return { command: file, leading: [] };
  check(file);
  return { command: process.execPath, leading: [file] };
}

/** In a clone the package is the workspace beside this one, elsewhere it is a dependency. */
function shippedProgram(): string {
  try {
    const manifest = createRequire(import.meta.url).resolve("agentcli/package.json");
    const { bin } = JSON.parse(readFileSync(manifest, "utf8")) as { bin: { agentcli: string } };
    return join(dirname(manifest), bin.agentcli);
  } catch (cause) {
    const advice = "Install the package agentcli beside @agentcli/sdk, or set agentPathOverride.";
    throw new TurnError("not-started", `The program agentcli was not found. ${advice}`, {}, cause);
  }
}

/** Node itself would start, and fail to load the file with a page of its own words. */
function check(file: string): void {
  try {
    accessSync(file, constants.R_OK);
  } catch (cause) {
    const advice = "Correct agentPathOverride, or install the package agentcli again.";
    throw new TurnError("not-started", `${file} could not be started: it cannot be read. ${advice}`, {}, cause);
  }
}
