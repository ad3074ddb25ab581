// One run of the program: yields its events, and throws unless the turn completed.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import type { ExecEvent } from "@agentcli/protocol";
import type { CommandLine } from "./command-line.ts";
import { AbortError, type TurnEnd, TurnError } from "./errors.ts";
import { linesOf } from "./lines.ts";
import type { ProgramCommand } from "./program.ts";

export type Launch = ProgramCommand & CommandLine & { env: NodeJS.ProcessEnv };

/** An abort, or leaving the loop, ends the program and waits for its exit. */
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

interface RunningProcess {
  child: Child;
  ended: Promise<{ exitCode: number | null; signal: NodeJS.Signals | null }>;
  stderrTail(): string;
  /** SIGTERM, then SIGKILL after `graceMs`. Waits for the exit; the program ends its children. */
  end(): Promise<void>;
}

const graceMs = 5_000;
const closeMs = 1_000;

async function start({ command, leading, args, prompt, env }: Launch): Promise<RunningProcess> {
  const child = await spawnProgram(command, [...leading, ...args], env);
  const stderrTail = collectTail(child.stderr);
  const ended = endOf(child);
  // A program that exits before it has read its prompt breaks the pipe; its exit code says why.
  child.stdin.on("error", () => {});
  child.stdin.end(prompt);
  // Once only: a second signal would interrupt the cleanup of the program.
  let ending: Promise<void> | undefined;
  const end = () => {
    ending ??= endProgram(child, ended);
    return ending;
  };
  return { child, ended, stderrTail, end };
}

/** Waits for the end of its output too, unless a leftover child keeps that open. */
function endOf(child: Child): RunningProcess["ended"] {
  return new Promise((resolve) => {
    child.once("close", (exitCode, signal) => resolve({ exitCode, signal }));
    child.once("exit", (exitCode, signal) => setTimeout(resolve, closeMs, { exitCode, signal }).unref());
  });
}

async function endProgram(child: Child, ended: RunningProcess["ended"]): Promise<void> {
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), graceMs);
  await ended;
  clearTimeout(timer);
  child.stdout.destroy();
  child.stderr.destroy();
}

async function spawnProgram(command: string, args: string[], env: NodeJS.ProcessEnv): Promise<Child> {
  try {
    const child = spawn(command, args, { env, stdio: ["pipe", "pipe", "pipe"], windowsHide: true });
    await new Promise<void>((resolve, reject) => child.once("spawn", resolve).on("error", reject));
    return child;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const advice = "Check that it is installed and executable.";
    throw new TurnError("not-started", `Could not start ${command}: ${reason}. ${advice}`, {}, cause);
  }
}

function readEvent(line: string, lastEvent: ExecEvent | null, running: RunningProcess): ExecEvent {
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
  const how = signal ? `was killed by ${signal}` : `ended with exit code ${exitCode}`;
  const details = lastEvent?.type === "error" ? lastEvent.message : stderrTail.trim();
  return new TurnError("exited", `agentcli ${how} before its turn completed${details ? `: ${details}` : "."}`, end);
}

const maxTailCharacters = 8_192;

function collectTail(stream: Readable): () => string {
  let tail = "";
  stream.setEncoding("utf8").on("data", (text: string) => {
    tail = (tail + text).slice(-maxTailCharacters);
  });
  return () => tail;
}
