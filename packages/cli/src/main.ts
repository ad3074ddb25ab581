// The program: reads the command line, runs the command, ends with its exit code and nothing left unsaid.
import { setMaxListeners } from "node:events";
import { type Scrub, scrubber } from "@agentcli/engine";
import { type ExitName, exitCodes } from "@agentcli/protocol/exit-codes";
import { parseCommandLine } from "./args.ts";
import { commands } from "./commands.ts";
import { type Environment, readEnvironment } from "./environment.ts";
import { choosePaint } from "./output/paint.ts";
import { humanReporter, jsonReporter, type Reporter, type Streams } from "./output/reporter.ts";
import { openWriter } from "./output/writer.ts";
import { Problem } from "./problem.ts";
import type { Program } from "./program.ts";
import { knownSecrets } from "./secrets.ts";
import { version } from "./version.ts";

// Every call under way listens for the end of the run; Node's ten would be taken for a leak and said so on standard error.
const mostListeners = 100;

/** `directory` is where the built program is. */
export async function main(argv: string[], directory: string): Promise<void> {
  setMaxListeners(mostListeners);
  const stop = new AbortController();
  const told = listenForSignals(stop);
  const { streams, lost } = openStreams(stop);
  const environment = readEnvironment();
  const scrub = scrubber(knownSecrets(environment));
  const print = (text: string | Buffer) => streams.out.write(text);
  const surroundings = { environment, scrub, commands, version, directory, print, signal: stop.signal };
  const code = await runCommand(argv, surroundings, streams);
  await Promise.all([streams.out.flush(), streams.err.flush()]);
  process.exit(told() ?? lost() ?? code);
}

async function runCommand(
  argv: string[],
  surroundings: Omit<Program, "reporter" | "print">,
  streams: Streams,
): Promise<number> {
  const wanted = { json: argv.includes("--json"), color: "auto" };
  let reporter = openReporter(wanted, surroundings.environment, streams);
  try {
    const line = parseCommandLine(argv);
    if (line.kind === "version") return print(streams, `agentcli ${version}\n`);
    if (line.kind === "help") return print(streams, (await import("./help.ts")).helpText(line.topic));
    if (line.kind === "half-named") {
      await streams.err.write((await import("./help.ts")).helpText(line.topic));
      return exitCodes.usage.code;
    }
    const { has, text } = line.invocation;
    reporter = openReporter({ json: has("json"), color: text("color") ?? "auto" }, surroundings.environment, streams);
    const { run } = await line.command.load();
    return await run(line.invocation, { ...surroundings, reporter, print: streams.out.write });
  } catch (error) {
    return explain(error, reporter, surroundings.scrub);
  }
}

/** Trouble of the user's making is a sentence; trouble of ours keeps its name so that it can be reported. */
async function explain(error: unknown, reporter: Reporter, scrub: Scrub): Promise<number> {
  const exitCode = exitCodeOf(error);
  if (exitCode !== null) {
    await reporter.fail(scrub((error as Error).message));
    return exitCode;
  }
  const { name, message } = error instanceof Error ? error : { name: "Error", message: String(error) };
  if (isRefusal(error)) {
    await reporter.fail(
      scrub(`${message}. Mend that path or its permissions; AGENT_HOME says where the agent home is.`),
    );
    return exitCodes.usage.code;
  }
  await reporter.fail(scrub(`Internal error: ${name}: ${message}. The session file keeps what was done.`));
  return exitCodes.failed.code;
}

/** The system would not let us at a file: that is how the machine is set up, and no bug. */
const isRefusal = (error: unknown): boolean =>
  ["EACCES", "EPERM", "EROFS", "EEXIST", "ENOTDIR", "EISDIR", "ELOOP", "ENAMETOOLONG"].includes(
    String((error as NodeJS.ErrnoException | null)?.code),
  );

/** By name: the classes live in packages that need not be loaded to be recognised. */
function exitCodeOf(error: unknown): number | null {
  if (error instanceof Problem) return error.exitCode;
  const name = error instanceof Error ? error.name : "";
  const exit: ExitName | undefined = {
    ConfigProblem: "usage",
    ProviderProblem: "usage",
    StaleWriter: "usage",
    SandboxUnavailable: "sandbox",
  }[name] as ExitName;
  return exit ? exitCodes[exit].code : null;
}

/** `lost` is the exit code once what was asked for cannot be handed over: nobody reads it, or the disk is full. */
function openStreams(stop: AbortController): { streams: Streams; lost(): number | null } {
  let code: number | null = null;
  const err = openWriter(process.stderr, () => {});
  const onLost = (error: NodeJS.ErrnoException) => {
    const isGone = error.code === "EPIPE";
    code = exitCodes[isGone ? "readerGone" : "failed"].code;
    const reason = isGone ? "The reader of the output is gone." : `Standard output failed: ${error.message}.`;
    if (!isGone) void err.write(`ERROR: ${reason}\n`);
    stop.abort({ end: { status: "cancelled", reason } });
  };
  return { streams: { out: openWriter(process.stdout, onLost), err }, lost: () => code };
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

interface Wanted {
  json: boolean;
  color: string;
}

function openReporter({ json, color }: Wanted, { variables }: Environment, streams: Streams): Reporter {
  if (json) return jsonReporter(streams);
  return humanReporter(streams, { paint: choosePaint(color, variables), version });
}

async function print(streams: Streams, text: string): Promise<number> {
  await streams.out.write(text);
  return exitCodes.completed.code;
}
