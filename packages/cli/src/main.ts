// The program: reads the command line, runs the command, ends with its exit code and nothing left unsaid.
import { costUsd } from "@agentcli/models";
import { type ExitName, exitCodes } from "@agentcli/protocol/exit-codes";
import { type Command, parseCommandLine } from "./args.ts";
import { type Environment, readEnvironment } from "./environment.ts";
import { choosePaint } from "./output/paint.ts";
import { humanReporter, jsonReporter, type Reporter, type Streams } from "./output/reporter.ts";
import { openWriter } from "./output/writer.ts";
import { Problem } from "./problem.ts";
import type { Program } from "./program.ts";
import { version } from "./version.ts";

/** `directory` is where the built program is. */
export async function main(argv: string[], directory: string): Promise<void> {
  const stop = new AbortController();
  const told = listenForSignals(stop);
  const streams = openStreams(stop);
  const surroundings = { environment: readEnvironment(), version, directory, signal: stop.signal };
  const code = await runCommand(argv, surroundings, streams);
  await Promise.all([streams.out.flush(), streams.err.flush()]);
  process.exit(told() ?? (streams.out.gone ? exitCodes.readerGone.code : code));
}

async function runCommand(argv: string[], surroundings: Omit<Program, "reporter">, streams: Streams): Promise<number> {
  const { environment } = surroundings;
  let reporter = plainReporter(argv.includes("--json"), environment, streams);
  try {
    const command = parseCommandLine(argv);
    if (command.command === "version") return print(streams, `agentcli ${version}`);
    if (command.command === "help") return print(streams, (await import("./help.ts")).helpText(command.topic));
    reporter = reporterFor(command, environment, streams);
    return await perform(command, { ...surroundings, reporter });
  } catch (error) {
    return explain(error, reporter);
  }
}

async function perform(command: Extract<Command, { command: "exec" | "resume" }>, program: Program): Promise<number> {
  if (command.command === "exec") {
    const { exec } = await import("./commands/exec.ts");
    return exec(command.prompt, command.options, program);
  }
  const { resume } = await import("./commands/resume.ts");
  return resume(command, program);
}

/** Trouble of the user's making is a sentence; trouble of ours keeps its name so that it can be reported. */
async function explain(error: unknown, reporter: Reporter): Promise<number> {
  const exitCode = exitCodeOf(error);
  if (exitCode !== null) {
    await reporter.fail((error as Error).message);
    return exitCode;
  }
  const { name, message } = error instanceof Error ? error : { name: "Error", message: String(error) };
  await reporter.fail(`Internal error: ${name}: ${message}. The session file keeps what was done.`);
  return exitCodes.failed.code;
}

/** By name: the classes live in packages that need not be loaded to be recognised. */
function exitCodeOf(error: unknown): number | null {
  if (error instanceof Problem) return error.exitCode;
  const name = error instanceof Error ? error.name : "";
  const exit: ExitName | undefined = { ConfigProblem: "usage", StaleWriter: "usage", SandboxUnavailable: "sandbox" }[
    name
  ] as ExitName;
  return exit ? exitCodes[exit].code : null;
}

function openStreams(stop: AbortController): Streams {
  const readerGone = () => stop.abort({ end: { status: "cancelled", reason: "The reader of the output is gone." } });
  return { out: openWriter(process.stdout, readerGone), err: openWriter(process.stderr, () => {}) };
}

const signals = { SIGINT: "interrupt", SIGTERM: "terminate", SIGHUP: "hangup" } as const;

/** The first signal ends the turn in good order, the second ends the program at once. */
function listenForSignals(stop: AbortController): () => number | null {
  let code: number | null = null;
  for (const [signal, exit] of Object.entries(signals)) {
    process.on(signal, () => {
      if (code !== null) process.exit(code);
      code = exitCodes[exit].code;
      stop.abort({ end: { status: "cancelled", reason: `Interrupted by ${signal}.` } });
    });
  }
  return () => code;
}

function reporterFor(
  command: Extract<Command, { command: "exec" | "resume" }>,
  environment: Environment,
  streams: Streams,
): Reporter {
  if (command.options.json) return jsonReporter(streams, costUsd);
  const paint = choosePaint(command.options.color, environment.variables);
  return humanReporter(streams, costUsd, { paint, version });
}

/** For trouble with the command line itself. */
const plainReporter = (json: boolean, environment: Environment, streams: Streams): Reporter =>
  json
    ? jsonReporter(streams, costUsd)
    : humanReporter(streams, costUsd, { paint: choosePaint("auto", environment.variables), version });

async function print(streams: Streams, text: string): Promise<number> {
  await streams.out.write(`${text}\n`);
  return exitCodes.completed.code;
}
