// The program: reads the command line, runs the command, ends with its exit code.
import { homedir } from "node:os";
import { CommandError, exitNameOf, foreignTextFor, incompleteCommand, parseCommandLine } from "@agentcli/command-line";
import { helpText } from "@agentcli/command-line/help";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import { helpLayout } from "./commands/help-layout.ts";
import type { Program } from "./commands/program.ts";
import { syntax } from "./commands/syntax.ts";
import { type Log, openLog } from "./foundation/telemetry/index.ts";
import { version } from "./foundation/version.ts";

/** `directory` is where the built program is. */
export async function main(argv: string[], directory: string): Promise<void> {
  const stop = new AbortController();
  const log = openLog({
    write: (line) => process.stderr.write(foreignTextFor(process.stderr, line)),
    now: () => new Date(),
  });
  listenForSignals(stop);
  ignoreOutputErrors();
  logCrashes(log);
  const program: Program = {
    variables: process.env,
    userHome: homedir(),
    cwd: process.cwd(),
    directory,
    readInput,
    print: (text) => process.stdout.write(foreignTextFor(process.stdout, text)),
    log,
    signal: stop.signal,
  };
  process.exit(await runCommand(argv, program));
}

async function readInput(): Promise<string> {
  if (process.stdin.isTTY)
    throw new CommandError("usage", "Standard input is a terminal. Pipe the value in, or use --file FILE.");
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

async function runCommand(argv: string[], program: Program): Promise<number> {
  try {
    const line = parseCommandLine(argv, syntax);
    if (line.kind === "command") return await (await line.command.load()).run(line.invocation, program);
    if (line.kind === "incomplete") throw incompleteCommand(line.topic, syntax);
    program.print(line.kind === "version" ? `platform ${version}\n` : helpText(line.topic, syntax, helpLayout));
    return exitCodes.completed.code;
  } catch (error) {
    return reportFailure(error);
  }
}

/** An error that the operator can fix is shown as its message; a bug of ours keeps its stack so that it can be reported. */
function reportFailure(error: unknown): number {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  const exit = exitNameOf(error) ?? ((error as NodeJS.ErrnoException).syscall ? "failed" : null);
  const report = exit ? `ERROR: ${message}\n` : `ERROR: Internal error: ${stack}\n`;
  process.stderr.write(foreignTextFor(process.stderr, report));
  return exitCodes[exit ?? "failed"].code;
}

/** A server keeps serving after the reader of its log has gone. */
function ignoreOutputErrors(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
}

/** A bug of ours ends the program; its supervisor starts it again, and runs under way are resumed. */
function logCrashes(log: Log): void {
  process.on("uncaughtException", (error) => {
    log.error("program.crashed", error);
    process.exit(exitCodes.failed.code);
  });
}

/** The first signal shuts the program down cleanly, the second ends it at once. */
function listenForSignals(stop: AbortController): void {
  for (const [signal, exit] of [
    ["SIGINT", "interrupt"],
    ["SIGTERM", "terminate"],
    ["SIGHUP", "hangup"],
  ] as const)
    process.on(signal, () => {
      if (stop.signal.aborted) process.exit(exitCodes[exit].code);
      stop.abort(new CommandError(exit, `Stopped by ${signal}.`));
    });
}
