// Starts a process on three pipes, or on two and a file when its whole input is known.

import { type ChildProcess, spawn } from "node:child_process";
import { closeSync } from "node:fs";
import { constants } from "node:os";
import type { Readable, Writable } from "node:stream";
import { explainLimit } from "@agentcli/protocol/system-errors";
import { type Child, type ChildEvents, type ChildSpec, explainStartFailure, type Launch } from "./child.ts";
import { openInputFile } from "./input-file.ts";
import type { Pipe, PipeSupply } from "./pipes.ts";

export async function startPiped(spec: ChildSpec, supply: PipeSupply, events: ChildEvents): Promise<Launch> {
  const ends = await openEnds(spec, supply);
  const child = spawnOn(spec, ends);
  const failure = child instanceof Error ? child : await outcomeOfStart(child);
  if (child instanceof Error || child.pid === undefined) {
    for (const end of ends) end?.socket?.destroy();
    return { kind: "not-started", message: explain(spec, failure) };
  }
  const [stdin, stdout, stderr] = ends.map((end, index) => (end === undefined ? child.stdio[index] : end.socket));
  const readers = [stdout, stderr] as Readable[];
  listen(child, readers, events);
  return {
    kind: "started",
    child: { pid: child.pid, ...inputOf(child, stdin as Writable | undefined), ...outputOf(readers) },
  };
}

/** Undefined where Node is to make its own. */
type End = Pipe | { socket: undefined; childEnd: number } | undefined;

async function openEnds({ input }: ChildSpec, supply: PipeSupply): Promise<End[]> {
  const opened: End[] = [];
  try {
    opened.push(await openInput(input, supply));
    opened.push(await supply.take("from-child"));
    opened.push(await supply.take("from-child"));
    return opened;
  } catch (error) {
    for (const end of opened) closeEnd(end);
    throw error;
  }
}

const openInput = async (input: string | undefined, supply: PipeSupply): Promise<End> =>
  input === undefined ? supply.take("to-child") : { socket: undefined, childEnd: openInputFile(input) };

function closeEnd(end: End): void {
  end?.socket?.destroy();
  if (end !== undefined) closeSync(end.childEnd);
}

function spawnOn({ argv, cwd, env }: ChildSpec, ends: End[]): ChildProcess | Error {
  const [program = "", ...rest] = argv;
  try {
    return spawn(program, rest, { cwd, env, detached: true, stdio: ends.map((end) => end?.childEnd ?? "pipe") });
  } catch (error) {
    // Such as an argument with a null character in it.
    return error as Error;
  } finally {
    for (const end of ends) if (end !== undefined) closeSync(end.childEnd);
  }
}

function outcomeOfStart(child: ChildProcess): Promise<Error | undefined> {
  return new Promise((resolve) => {
    child.once("spawn", () => resolve(undefined));
    child.once("error", resolve);
  });
}

const explain = (spec: ChildSpec, failure: Error | undefined): string =>
  explainLimit(failure) ??
  explainStartFailure(spec) ??
  `${spec.argv[0]} could not be started: ${failure?.message ?? "no reason was given"}.`;

function listen(child: ChildProcess, readers: Readable[], events: ChildEvents): void {
  const open = new Set(readers);
  readers.forEach((reader, index) => {
    // Its end comes first, its close also where it has failed.
    const close = () => {
      if (open.delete(reader) && open.size === 0) events.closed();
    };
    reader.setEncoding("utf8");
    reader.on("data", (text: string) => events.output(index === 0 ? "stdout" : "stderr", text));
    reader.on("error", () => reader.destroy());
    reader.on("end", close);
    reader.on("close", close);
  });
  child.on("exit", (code, signal) => events.exited(code ?? 128 + constants.signals[signal ?? "SIGKILL"]));
}

function inputOf(child: ChildProcess, stdin: Writable | undefined): Pick<Child, "write" | "endInput" | "resize"> {
  // A process may exit before it has read its input; its exit code is reported.
  stdin?.on("error", () => {});
  child.on("exit", () => stdin?.destroy());
  return {
    write: (text) => void stdin?.write(text),
    endInput: () => void stdin?.end(),
    resize: () => {},
  };
}

const outputOf = (readers: Readable[]): Pick<Child, "holdOutput" | "resumeOutput"> => ({
  holdOutput() {
    for (const reader of readers) reader.pause();
  },
  resumeOutput() {
    for (const reader of readers) reader.resume();
  },
});
