// `notify`: the user's program, started at the end of each completed turn with one JSON argument.
import { spawn } from "node:child_process";
import { closeSync, constants, openSync, readSync, statSync } from "node:fs";
import { basename, resolve } from "node:path";
import type { EndedTurn } from "@agentcli/host";
import { hostDirectory } from "@agentcli/workspace";
import type { Program } from "../program.ts";

/** Settles when the program has been started; it is not waited for, and a program that cannot be started is reported. */
export function notifyProgram(
  argv: string[],
  turn: EndedTurn,
  { environment, reporter }: Pick<Program, "environment" | "reporter">,
): Promise<void> {
  const [name = "", ...args] = argv;
  environment.programs.distrust([turn.cwd]);
  const planted = runBy(argv, environment.cwd).find((word) => isOfAgent(word, environment));
  if (planted !== undefined) {
    const reason = `an agent can change ${planted}. Move it to a directory outside of the workspace`;
    reporter.log(`warning: the program of notify was not started: ${reason}.`);
    return Promise.resolve();
  }
  // Where no agent can have put a program of that name, or what it loads.
  const env = environment.programs.environment(environment.variables);
  const program = name.includes("/") ? resolve(environment.cwd, name) : name;
  return new Promise((resolve) => {
    const options = { cwd: hostDirectory, stdio: "ignore", detached: true, env } as const;
    const child = spawn(program, [...args, JSON.stringify(payload(turn))], options);
    child.once("spawn", () => {
      child.unref();
      resolve();
    });
    child.once("error", (error) => {
      reporter.log(`warning: the program of notify could not be started: ${error.message}.`);
      resolve();
    });
  });
}

/** It runs outside of the sandbox. */
function isOfAgent(word: string, { programs, cwd }: Program["environment"]): boolean {
  const path = resolve(cwd, word);
  return statSync(path, { throwIfNoEntry: false }) !== undefined && !programs.isTrusted(path);
}

/** The program, the script of an interpreter, and every other word that may be run. The rest is data, such as a log. */
function runBy(argv: string[], cwd: string): string[] {
  return argv.filter((word, index) => {
    if (index === 0) return word.includes("/");
    const stats = statSync(resolve(cwd, word), { throwIfNoEntry: false });
    if (!stats?.isFile()) return false;
    return isScriptOf(argv, index) || (stats.mode & 0o111) !== 0 || isScript(resolve(cwd, word));
  });
}

/** The first word after an interpreter that is not an option; also after the value of one. */
function isScriptOf(argv: string[], index: number): boolean {
  const start = argv.slice(0, index).findLastIndex((word) => interpreter.test(basename(word)));
  const between = argv.slice(start + 1, index);
  return start >= 0 && between.every((word, at) => word.startsWith("-") || between[at - 1]?.startsWith("-"));
}

const interpreter =
  /^(?:(?:ba|da|z|k|fi)?sh|node|nodejs|bun|deno|tsx|python[\d.]*|perl|ruby|php|lua|awk|gawk|osascript|pwsh)$/;

function isScript(path: string): boolean {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const start = Buffer.alloc(2);
      return readSync(file, start) === 2 && start.toString() === "#!";
    } finally {
      closeSync(file);
    }
  } catch {
    // What cannot be read cannot be run as a script.
    return false;
  }
}

const payload = ({ threadId, turnId, cwd, prompt, message }: EndedTurn) => ({
  type: "agent-turn-complete",
  "thread-id": threadId,
  "turn-id": turnId,
  cwd,
  "input-messages": [prompt],
  "last-assistant-message": message,
});
