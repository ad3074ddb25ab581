// The program: reads the command line, runs the command, ends with its exit code.
import { homedir } from "node:os";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import { parseCommandLine } from "./args.ts";
import { helpText } from "./help.ts";
import type { Program } from "./program.ts";
import { type Log, openLog } from "./telemetry/index.ts";
import { version } from "./version.ts";

/** `directory` is where the built program is. */
export async function main(argv: string[], directory: string): Promise<void> {
  const stop = new AbortController();
  const log = openLog({ write: (line) => process.stderr.write(line), now: () => new Date() });
  listenForSignals(stop);
  surviveLostReaders();
  crashInWriting(log);
  const program: Program = {
    variables: process.env,
    userHome: homedir(),
    cwd: process.cwd(),
    directory,
    print: (text) => process.stdout.write(text),
    log,
    signal: stop.signal,
  };
  process.exit(await runCommand(argv, program));
}

async function runCommand(argv: string[], program: Program): Promise<number> {
  try {
    const line = parseCommandLine(argv);
    if (line.kind === "command") return await (await line.command.load()).run(line.invocation, program);
    program.print(line.kind === "version" ? `platform ${version}\n` : helpText(line.topic));
    return exitCodes.completed.code;
  } catch (error) {
    return explain(error);
  }
}

/** Trouble that can be mended is a sentence; trouble of ours keeps its stack so that it can be reported. */
function explain(error: unknown): number {
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
  const exit = mendable[name] ?? ((error as NodeJS.ErrnoException).syscall ? "failed" : null);
  process.stderr.write(exit ? `ERROR: ${message}\n` : `ERROR: Internal error: ${stack}\n`);
  return exitCodes[exit ?? "failed"].code;
}

const mendable: Record<string, "usage" | "failed"> = {
  UsageProblem: "usage",
  SettingProblem: "usage",
  PrincipalProblem: "usage",
  DatabaseProblem: "failed",
  VaultProblem: "failed",
  UnreadableExport: "failed",
  BackupProblem: "failed",
  SigningProblem: "failed",
};

/** A server whose log nobody reads any more goes on serving. */
function surviveLostReaders(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
}

/** A bug of ours ends the program; whoever supervises it starts it again, and what was under way goes on. */
function crashInWriting(log: Log): void {
  process.on("uncaughtException", (error) => {
    log.error("program.crashed", error);
    process.exit(exitCodes.failed.code);
  });
}

/** The first signal ends the program in good order, the second at once. */
function listenForSignals(stop: AbortController): void {
  for (const [signal, exit] of [
    ["SIGINT", "interrupt"],
    ["SIGTERM", "terminate"],
    ["SIGHUP", "hangup"],
  ] as const)
    process.on(signal, () => {
      if (stop.signal.aborted) process.exit(exitCodes[exit].code);
      stop.abort();
    });
}
