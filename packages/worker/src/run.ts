// The commands of the worker, by their last word.
import { CommandError, type Invocation } from "@agentcli/command-line";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import type { WorkerFlag } from "./commands.ts";
import { readWorkerOptions } from "./options.ts";
import type { RunProgram } from "./program.ts";

/** Returns the exit code. Throws CommandError. */
export async function runWorkerCommand(
  name: string | undefined,
  invocation: Invocation<WorkerFlag>,
  program: RunProgram,
): Promise<number> {
  const { environment } = program;
  switch (name) {
    case "start":
      await (await import("./start.ts")).startWorker(readWorkerOptions(invocation, environment), program);
      return exitCodes.completed.code;
    case "debug":
      return (await import("./debug.ts")).debugWorker(readWorkerOptions(invocation, environment), invocation, program);
    case "controller":
      await (await import("./controller.ts")).runController(invocation, program);
      return exitCodes.completed.code;
    default:
      throw new CommandError("usage", `There is no command worker ${name}.`);
  }
}
