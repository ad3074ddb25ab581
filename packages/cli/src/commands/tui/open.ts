// `agentcli [PROMPT]`: a new thread on the terminal.
import type { Invocation } from "../../command.ts";
import type { Program } from "../../program.ts";
import { openTerminalInterface } from "../../tui/open.ts";

export const run = (invocation: Invocation, program: Program): Promise<number> =>
  openTerminalInterface(invocation, program, { start: { kind: "new" }, prompt: invocation.positionals[0] ?? null });
