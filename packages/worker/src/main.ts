// The program `agent`: reads the command line, runs the worker, ends with its exit code.
import { homedir } from "node:os";
import { exitNameOf, foreignTextFor, incompleteCommand, parseCommandLine } from "@agentcli/command-line";
import { type HelpLayout, helpText } from "@agentcli/command-line/help";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import { workerNotes } from "./command-notes.ts";
import { runWorkerCommand } from "./run.ts";
import { syntax } from "./syntax.ts";
import { version } from "./version.ts";

const helpLayout: HelpLayout = {
  summary: "lets agents of a platform work on this machine",
  commandGroups: [{ title: "Worker", names: ["worker"] }],
  flagGroups: [],
  flags: ["help", "version"],
  runs: [],
  exitCodes: "0 stopped, 2 wrong usage, 3 credentials, 8 no sandbox.",
  notes: workerNotes,
  footer: "See docs/workers.md.",
};

/** `directory` is where the built program is. */
export async function main(argv: string[], directory: string): Promise<void> {
  const stop = new AbortController();
  listenForSignals(stop);
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  process.exit(await runCommand(argv, directory, stop.signal));
}

async function runCommand(argv: string[], directory: string, signal: AbortSignal): Promise<number> {
  const print = (text: string) => process.stdout.write(foreignTextFor(process.stdout, text));
  const log = (line: string) => process.stderr.write(foreignTextFor(process.stderr, `${line}\n`));
  try {
    const line = parseCommandLine(argv, syntax);
    if (line.kind === "incomplete") throw incompleteCommand(line.topic, syntax);
    if (line.kind === "version") print(`agent ${version}\n`);
    else if (line.kind === "help") print(helpText(line.topic, syntax, helpLayout));
    else {
      const environment = { variables: process.env, cwd: process.cwd(), userHome: homedir() };
      const program = { environment, directory, version, log, print, signal };
      return await runWorkerCommand(line.command.path.at(-1), line.invocation, program);
    }
    return exitCodes.completed.code;
  } catch (error) {
    const { message, stack } = error instanceof Error ? error : new Error(String(error));
    const exit = exitNameOf(error);
    log(exit ? `ERROR: ${message}` : `ERROR: Internal error: ${stack}`);
    return exitCodes[exit ?? "failed"].code;
  }
}

/** The first signal ends the worker cleanly, the second at once. */
function listenForSignals(stop: AbortController): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => {
      if (stop.signal.aborted) process.exit(1);
      stop.abort();
    });
}
