// One run of the program: its events as they come, then nothing if the turn completed, else an error that says why.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import type { ExecEvent } from "@agentcli/protocol";
import type { CommandLine } from "./command-line.ts";
import { AbortError, type TurnEnd, TurnError } from "./errors.ts";
import { linesOf } from "./lines.ts";
import type { ProgramCommand } from "./program.ts";

export type Launch = ProgramCommand & CommandLine & { env: NodeJS.ProcessEnv };

/** Whoever stops listening, by an abort or by leaving the loop, has the program ended and waited for. */
export async function* runProgram(launch: Launch, signal?: AbortSignal): AsyncGenerator<ExecEvent> {
  if (signal?.aborted) throw new AbortError(signal.reason);
  const running = await start(launch);
  const stop = () => void running.end();
  signal?.addEventListener("abort", stop, { once: true });
  let lastEvent: ExecEvent | null = null;
  try {
    for await (const line of linesOf(running.child)) {
      lastEvent = readEvent(line, lastEvent, running);
      yield lastEvent;
    }
    const { exitCode, signal: killedBy } = await running.ended;
    if (signal?.aborted) throw new AbortError(signal.reason);
    if (exitCode === 0 && lastEvent?.type === "turn.completed") return;
    throw failure({ exitCode, signal: killedBy, stderrTail: running.stderrTail(), lastEvent });
  } finally {
    signal?.removeEventListener("abort", stop);
    await running.end();
  }
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

interface Running {
  child: Child;
  ended: Promise<{ exitCode: number | null; signal: NodeJS.Signals | null }>;
  stderrTail(): string;
  /** Asks the program to end, makes it end, and waits until it has. It takes what it started with it. */
  end(): Promise<void>;
}

const graceMs = 5_000;
const closeMs = 1_000;

async function start({ command, leading, args, prompt, env }: Launch): Promise<Running> {
  const child = await spawned(command, [...leading, ...args], env);
  const stderrTail = keepTail(child.stderr);
  const ended = endOf(child);
  // A program that ends before it has read its prompt breaks the pipe; how it ended is told by its exit.
  child.stdin.on("error", () => {});
  child.stdin.end(prompt);
  // Once only: a second signal would keep the program from putting its things in order.
  let ending: Promise<void> | undefined;
  const end = () => {
    ending ??= endProgram(child, ended);
    return ending;
  };
  return { child, ended, stderrTail, end };
}

/** With all it has written, unless something it left behind holds its output open. */
function endOf(child: Child): Running["ended"] {
  return new Promise((resolve) => {
    child.once("close", (exitCode, signal) => resolve({ exitCode, signal }));
    child.once("exit", (exitCode, signal) => setTimeout(resolve, closeMs, { exitCode, signal }).unref());
  });
}

async function endProgram(child: Child, ended: Running["ended"]): Promise<void> {
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), graceMs);
  await ended;
  clearTimeout(timer);
  child.stdout.destroy();
  child.stderr.destroy();
}

async function spawned(command: string, args: string[], env: NodeJS.ProcessEnv): Promise<Child> {
  try {
    const child = spawn(command, args, { env, stdio: ["pipe", "pipe", "pipe"], windowsHide: true });
    await new Promise<void>((resolve, reject) => child.once("spawn", resolve).on("error", reject));
    return child;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const advice = "Check that it is installed and may be executed.";
    throw new TurnError("not-started", `${command} could not be started: ${reason}. ${advice}`, {}, cause);
  }
}

function readEvent(line: string, lastEvent: ExecEvent | null, running: Running): ExecEvent {
  try {
    return JSON.parse(line) as ExecEvent;
  } catch (cause) {
    const message = `Failed to parse item: ${line.slice(0, 200)}`;
    throw new TurnError("unreadable", message, { stderrTail: running.stderrTail(), lastEvent }, cause);
  }
}

function failure(end: TurnEnd): TurnError {
  const { lastEvent, exitCode, signal, stderrTail } = end;
  if (lastEvent?.type === "turn.failed") return new TurnError("failed", lastEvent.error.message, end);
  const how = signal ? `was ended by ${signal}` : `ended with exit code ${exitCode}`;
  const said = lastEvent?.type === "error" ? lastEvent.message : stderrTail.trim();
  return new TurnError("exited", `agentcli ${how} before its turn completed${said ? `: ${said}` : "."}`, end);
}

const mostTail = 8_192;

function keepTail(stream: Readable): () => string {
  let tail = "";
  stream.setEncoding("utf8").on("data", (text: string) => {
    tail = (tail + text).slice(-mostTail);
  });
  return () => tail;
}
