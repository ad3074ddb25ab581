// `agentcli worker start`: the same as `agent worker start`.
import type { Invocation } from "../../command.ts";
import type { Program } from "../../program.ts";
import { runAsWorker } from "./program.ts";

export const run = (invocation: Invocation, program: Program): Promise<number> =>
  runAsWorker("start", invocation, program);
