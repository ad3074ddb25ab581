// `agentcli completion`: a script that lets a shell complete commands and flags.
import { exitCodes } from "@agentcli/protocol/exit-codes";
import type { Invocation } from "../args.ts";
import { bashScript } from "../completion/bash.ts";
import { fishScript } from "../completion/fish.ts";
import { zshScript } from "../completion/zsh.ts";
import { Problem } from "../problem.ts";
import type { Program } from "../program.ts";

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };

export async function run({ positionals }: Invocation, { commands, print }: Program): Promise<number> {
  const shell = positionals[0] ?? "";
  if (!isKnown(shell)) {
    const choices = Object.keys(scripts).join(", ");
    throw new Problem("usage", `Which shell? Choose one of ${choices}: source <(agentcli completion bash)`);
  }
  await print(scripts[shell](commands));
  return exitCodes.completed.code;
}

const isKnown = (shell: string): shell is keyof typeof scripts => Object.hasOwn(scripts, shell);
