// `notify`: the user's program, started at the end of each completed turn with one JSON argument.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { EndedTurn } from "@agentcli/host";
import type { Program } from "../program.ts";

/** Settles when the program has been started; it is not waited for, and a program that cannot be started is reported. */
export function notifyProgram(
  argv: string[],
  turn: EndedTurn,
  { environment, reporter }: Pick<Program, "environment" | "reporter">,
): Promise<void> {
  const [program = "", ...args] = argv;
  const planted = argv.find((word) => word.includes("/") && isOfAgent(word, turn.cwd, environment));
  if (planted !== undefined) {
    const reason = `an agent can change ${planted}. Move it to a directory outside of the workspace`;
    reporter.log(`warning: the program of notify was not started: ${reason}.`);
    return Promise.resolve();
  }
  // Where no agent can have put a program of that name, or what it loads.
  const env = environment.programs.environment(environment.variables);
  return new Promise((resolve) => {
    const child = spawn(program, [...args, JSON.stringify(payload(turn))], { stdio: "ignore", detached: true, env });
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
function isOfAgent(word: string, cwd: string, { programs, cwd: startedIn }: Program["environment"]): boolean {
  programs.distrust([cwd]);
  const path = resolve(startedIn, word);
  return existsSync(path) && !programs.isTrusted(path);
}

const payload = ({ threadId, turnId, cwd, prompt, message }: EndedTurn) => ({
  type: "agent-turn-complete",
  "thread-id": threadId,
  "turn-id": turnId,
  cwd,
  "input-messages": [prompt],
  "last-assistant-message": message,
});
