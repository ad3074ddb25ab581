// Programs of the system, from its own folders: PATH may begin with one that the repository wrote.
import { type SpawnSyncOptions, spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { StepError } from "./errors.ts";

const folders = ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin", "/opt/homebrew/bin"];

export function findProgram(name: string): string | undefined {
  return folders
    .map((folder) => join(folder, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false; // Not in this folder; the next may have it.
      }
    });
}

/** Node would run its standard input for an empty name. */
export function installedCli({ AGENTCLI_PROGRAM }: Record<string, string | undefined>): string {
  if (AGENTCLI_PROGRAM) return AGENTCLI_PROGRAM;
  throw new StepError("AGENTCLI_PROGRAM is empty: the step that installs agentcli must run before this one.");
}

export interface Outcome {
  ok: boolean;
  stdout: string;
  stderr: string;
}

export function execute([program = "", ...args]: string[], options: SpawnSyncOptions = {}): Outcome {
  const { status, stdout, stderr, error } = spawnSync(program, args, { ...options, encoding: "utf8" });
  return { ok: status === 0, stdout: String(stdout ?? ""), stderr: error?.message ?? String(stderr ?? "") };
}

/** The command under sudo, without a password. */
export const asRoot = (...command: string[]): string[] => underSudo([], command);

/** Flags choose the user and what of the environment is kept. */
export function underSudo(flags: string[], command: string[]): string[] {
  const sudo = findProgram("sudo");
  if (!sudo) throw new StepError("sudo is not installed on this runner. Set safety-strategy to unsafe, or install it.");
  return [sudo, "-n", ...flags, "--", ...command];
}
