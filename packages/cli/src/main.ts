// The program: reads the command line, runs the command, ends with its exit code after all output is written.
import { setMaxListeners } from "node:events";
import { exitNameOf, withoutColours } from "@agentcli/command-line";
import { type Scrub, scrubber } from "@agentcli/engine";
import type { Environment, Reporter } from "@agentcli/host";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import { explainLimit } from "@agentcli/protocol/system-errors";
import { readEnvironment } from "./environment.ts";
import { choosePaint } from "./output/paint.ts";
import { humanReporter, jsonReporter, type Streams } from "./output/reporter.ts";
import { openWriter } from "./output/writer.ts";
import type { Program } from "./program.ts";
import { readCommandLine } from "./read-command-line.ts";
import { knownSecrets } from "./secrets.ts";
import { version } from "./version.ts";

// Every call under way listens for the end of the run; above Node's default of ten it would warn of a leak on standard error.
const maxListeners = 100;

/** `directory` is where the built program is. */
export async function main(argv: string[], directory: string): Promise<void> {
  setMaxListeners(maxListeners);
  const stop = new AbortController();
  const signalExit = listenForSignals(stop);
  const { streams, outputExit } = openStreams(stop);
  const environment = readEnvironment();
  const scrub = scrubber(knownSecrets(environment));
  const program = { environment, scrub, syntax: readSyntax, version, directory, signal: stop.signal };
  process.on(
    "uncaughtException",
    (error) => void reportAndExit(error, { streams, scrub, json: argv.includes("--json") }),
  );
  const code = await runCommand(argv, program, streams);
  await Promise.all([streams.out.flush(), streams.err.flush()]);
  process.exit(signalExit() ?? outputExit() ?? code);
}

interface Reporting {
  streams: Streams;
  scrub: Scrub;
  json: boolean;
}

/** Such as a process that could not be started where its start is not waited for. */
async function reportAndExit(error: unknown, { streams, scrub, json }: Reporting): Promise<void> {
  const reporter = openReporter({ json, color: "never" }, { variables: {} }, streams);
  const code = await reportFailure(error, reporter, scrub);
  await Promise.all([streams.out.flush(), streams.err.flush()]);
  process.exit(code);
}

async function runCommand(
  argv: string[],
  program: Omit<Program, "reporter" | "print">,
  streams: Streams,
): Promise<number> {
  let reporter = openReporter({ json: argv.includes("--json"), color: "auto" }, program.environment, streams);
  try {
    const line = await readCommandLine(argv, program.environment.variables);
    if (line.kind === "version") return print(streams, `agentcli ${version}\n`);
    if (line.kind === "help") return print(streams, await help(line.topic));
    if (line.kind === "incomplete") {
      await streams.err.write(await help(line.topic));
      return exitCodes.usage.code;
    }
    const { has, text } = line.invocation;
    const options = { json: has("json"), color: text("color") ?? "auto" };
    reporter = openReporter(options, program.environment, streams);
    // Commands that run the agent have --color.
    if (line.command.flags.includes("color") && !options.json && isLive(streams, program.environment))
      reporter = await openTerminal(options, program, { streams, isResumable: !has("ephemeral") });
    const { run } = await line.command.load();
    const { out } = streams;
    const shown = (written: string | Buffer) => (out.terminal ? withoutColours(written.toString()) : written);
    const printTo: Program["print"] = (written, colours) => out.write(colours === "own" ? written : shown(written));
    return await run(line.invocation, { ...program, reporter, print: printTo });
  } catch (error) {
    return reportFailure(error, reporter, program.scrub);
  }
}

const readSyntax = async () => (await import("./syntax.ts")).syntax;

async function help(topic: string[]): Promise<string> {
  const { helpText } = await import("@agentcli/command-line/help");
  return helpText(topic, await readSyntax(), (await import("./help-layout.ts")).helpLayout);
}

/** An error that the user can fix is shown as its message; an internal error keeps its name for bug reports. */
async function reportFailure(error: unknown, reporter: Reporter, scrub: Scrub): Promise<number> {
  const { name, message } = error instanceof Error ? error : { name: "Error", message: String(error) };
  const exit = exitNameOf(error);
  if (exit !== null) {
    await reporter.fail(scrub(message));
    return exitCodes[exit].code;
  }
  const limit = explainLimit(error);
  if (limit !== null) {
    await reporter.fail(scrub(limit));
    return exitCodes.failed.code;
  }
  if (isFileAccessError(error)) {
    await reporter.fail(scrub(`${message}. Fix that path or its permissions; AGENT_HOME sets the agent home.`));
    return exitCodes.usage.code;
  }
  await reporter.fail(scrub(`Internal error: ${name}: ${message}. The session file keeps what was done.`));
  return exitCodes.failed.code;
}

/** The system denied access to a file: a matter of how the machine is set up, not a bug. */
const isFileAccessError = (error: unknown): boolean =>
  ["EACCES", "EPERM", "EROFS", "EEXIST", "ENOTDIR", "EISDIR", "ELOOP"].includes(
    String((error as NodeJS.ErrnoException | null)?.code),
  );

/** `outputExit` is set once standard output cannot be written: its reader has gone, or the disk is full. */
function openStreams(stop: AbortController): { streams: Streams; outputExit(): number | null } {
  let code: number | null = null;
  const err = openWriter(process.stderr, () => {});
  const onLost = (error: NodeJS.ErrnoException) => {
    const isGone = error.code === "EPIPE";
    code = exitCodes[isGone ? "readerGone" : "failed"].code;
    const reason = isGone ? "The reader of the output has closed it." : `Standard output failed: ${error.message}.`;
    if (!isGone) void err.write(`ERROR: ${reason}\n`);
    stop.abort({ end: { status: "cancelled", reason } });
  };
  return { streams: { out: openWriter(process.stdout, onLost), err }, outputExit: () => code };
}

const signals = { SIGINT: "interrupt", SIGTERM: "terminate", SIGHUP: "hangup" } as const;

/** The first signal ends the turn cleanly, the second ends the program at once. */
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

interface OutputOptions {
  json: boolean;
  color: string;
}

function openReporter(
  { json, color }: OutputOptions,
  { variables }: Pick<Environment, "variables">,
  streams: Streams,
): Reporter {
  if (json) return jsonReporter(streams);
  return humanReporter(streams, { paint: choosePaint(color, variables), version });
}

/** A terminal that can move its cursor, in front of a user. */
const isLive = ({ err }: Streams, { variables: { TERM, CI } }: Environment): boolean =>
  err.terminal && TERM !== undefined && TERM !== "dumb" && (CI === undefined || ["", "0", "false"].includes(CI));

async function openTerminal(
  { color }: OutputOptions,
  { environment, scrub }: Pick<Program, "environment" | "scrub">,
  { streams, isResumable }: { streams: Streams; isResumable: boolean },
): Promise<Reporter> {
  const { terminalReporter } = await import("./output/terminal-reporter.ts");
  const variables =
    color === "auto" ? environment.variables : { ...environment.variables, NO_COLOR: color === "never" ? "1" : "" };
  const paint = choosePaint(color, environment.variables);
  return terminalReporter(streams, { paint, variables, version, scrub, isResumable });
}

async function print(streams: Streams, text: string): Promise<number> {
  await streams.out.write(text);
  return exitCodes.completed.code;
}
