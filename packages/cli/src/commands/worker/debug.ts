// `agentcli worker debug`: the same as `agent worker debug`.
import type { Invocation } from "../../command.ts";
import type { Program } from "../../program.ts";
import { runAsWorker } from "./program.ts";

export const run = (invocation: Invocation, program: Program): Promise<number> =>
  runAsWorker("debug", invocation, program);
