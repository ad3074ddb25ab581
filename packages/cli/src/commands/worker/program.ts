// The commands of the worker in this program.
import { runWorkerCommand } from "@agentcli/worker";
import type { Invocation } from "../../command.ts";
import type { Program } from "../../program.ts";

export function runAsWorker(name: string, invocation: Invocation, program: Program): Promise<number> {
  const { environment, directory, version, signal, reporter, scrub, print } = program;
  return runWorkerCommand(name, invocation, {
    ...{ environment, directory, version, signal },
    log: (line) => reporter.log(scrub(line)),
    print: (text) => void print(scrub(text)),
  });
}
