// Runs the commands of an environment in the machine of a run.
import { randomUUID } from "node:crypto";
import type { Workspace } from "@agentcli/protocol";
import { shellCommand } from "./machine-settings.ts";

interface Finished {
  exitCode: number | null;
  output: string;
}

export interface MachineCommands {
  root: string;
  user: string;
  argv(argv: string[], timeoutMs?: number): Promise<Finished>;
  script(script: string, args: string[]): Promise<Finished>;
  /** A command of the environment, with its output in a file of its own; null where it succeeded. */
  logged(name: string, command: string, timeoutMs: number): Promise<string | null>;
}

const shortTimeoutMs = 60_000;
const shownCharacters = 1_000;

export function openMachineCommands(
  workspace: Workspace,
  { root, user }: Pick<MachineCommands, "root" | "user">,
  signal: AbortSignal,
): MachineCommands {
  const argv = async (words: string[], timeoutMs = shortTimeoutMs): Promise<Finished> => {
    let output = "";
    const take = ({ text }: { text: string }) => {
      output = (output + text).slice(-shownCharacters);
    };
    const ended = await workspace.exec(
      { id: randomUUID(), start: { argv: words, cwd: root, timeoutMs } },
      take,
      signal,
    );
    return { exitCode: ended.state === "exited" && !ended.timedOut ? ended.exitCode : null, output };
  };
  const script = (text: string, args: string[]) => argv(["/bin/sh", "-c", text, ...args]);
  return {
    root,
    user,
    argv,
    script,
    async logged(name, command, timeoutMs) {
      const log = `/tmp/${name}.log`;
      // Into a file: what it leaves running would keep a pipe open.
      const { exitCode } = await argv(shellCommand(`exec > ${log} 2>&1 < /dev/null\n${command}`, user), timeoutMs);
      if (exitCode === 0) return null;
      const { output } = await script('tail -c 1000 "$0"', [log]);
      const how = exitCode === null ? `did not end within ${timeoutMs / 60_000} minutes` : `ended with ${exitCode}`;
      return `${name} of the environment ${how}. Its output is in ${log} of the machine: ${output.trim()}`;
    },
  };
}
