// `agentcli fork`: a copy of an earlier thread on the terminal.
import type { Invocation } from "../../command.ts";
import type { Program } from "../../program.ts";
import { openEarlier } from "../../tui/open.ts";

export const run = (invocation: Invocation, program: Program): Promise<number> =>
  openEarlier(invocation, program, "fork");
