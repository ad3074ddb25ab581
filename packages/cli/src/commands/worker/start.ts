// `agentcli worker start`: the same as `agent worker start`.
import { exitCodes } from "@agentcli/protocol/exit-codes";
import { readWorkerOptions, startWorker } from "@agentcli/worker";
import type { Invocation } from "../../command.ts";
import type { Program } from "../../program.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const { environment, directory, version, signal, reporter, scrub } = program;
  const options = readWorkerOptions(invocation, environment);
  await startWorker(options, { directory, version, signal, log: (line) => reporter.log(scrub(line)) });
  return exitCodes.completed.code;
}
