// Scripts that let a shell complete commands and flags.
import type { Syntax } from "../command.ts";
import { bashScript } from "./bash.ts";
import { fishScript } from "./fish.ts";
import { zshScript } from "./zsh.ts";

const scripts: Record<string, (syntax: Syntax) => string> = { bash: bashScript, zsh: zshScript, fish: fishScript };

export const shells = Object.keys(scripts);

/** Null for a shell without one. */
export const completionScript = (shell: string, syntax: Syntax): string | null =>
  Object.hasOwn(scripts, shell) ? (scripts[shell]?.(syntax) ?? null) : null;
