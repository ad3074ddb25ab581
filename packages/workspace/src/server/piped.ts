// Starts a process on three pipes.
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync } from "node:fs";
import { constants } from "node:os";
import type { Readable, Writable } from "node:stream";
import { type ChildEvents, type ChildSpec, findObstacle, type Launch } from "./child.ts";
import type { Pipe, PipeSupply } from "./pipes.ts";

export async function startPiped(spec: ChildSpec, supply: PipeSupply, events: ChildEvents): Promise<Launch> {
  const pipes = [await supply.take("to-child"), await supply.take("from-child"), await supply.take("from-child")];
  const child = spawnOn(spec, pipes);
  const failure = child instanceof Error ? child : await outcomeOfStart(child);
  if (child instanceof Error || child.pid === undefined) {
    for (const pipe of pipes) pipe?.socket.destroy();
    return { kind: "not-started", message: explain(spec, failure) };
  }

  const [input, output, errors] = [0, 1, 2].map((index) => pipes[index]?.socket ?? child.stdio[index]);
  const stdin = input as Writable;
  const readers = [output as Readable, errors as Readable];
  listen(child, stdin, readers, events);
  return {
    kind: "started",
    child: {
      pid: child.pid,
      write: (text) => void stdin.write(text),
      endInput: () => void stdin.end(),
      resize: () => {},
      holdOutput: () => readers.forEach((reader) => void reader.pause()),
      resumeOutput: () => readers.forEach((reader) => void reader.resume()),
    },
  };
}

function spawnOn({ argv, cwd, env }: ChildSpec, pipes: (Pipe | undefined)[]): ChildProcess | Error {
  const [program = "", ...rest] = argv;
  try {
    return spawn(program, rest, {
      cwd,
      env,
      detached: true,
      stdio: pipes.map((pipe) => pipe?.childEnd ?? "pipe"),
    });
  } catch (error) {
    // Such as an argument with a null character in it.
    return error as Error;
  } finally {
    for (const pipe of pipes) if (pipe !== undefined) closeSync(pipe.childEnd);
  }
}

function outcomeOfStart(child: ChildProcess): Promise<Error | undefined> {
  return new Promise((resolve) => {
    child.once("spawn", () => resolve(undefined));
    child.once("error", resolve);
  });
}

const explain = (spec: ChildSpec, failure: Error | undefined): string =>
  findObstacle(spec) ?? `${spec.argv[0]} could not be started: ${failure?.message ?? "no reason was given"}.`;

function listen(child: ChildProcess, stdin: Writable, readers: Readable[], events: ChildEvents): void {
  // A process may end before it has read its input; how it ended is told by its exit code.
  stdin.on("error", () => {});
  let open = readers.length;
  readers.forEach((reader, index) => {
    reader.setEncoding("utf8");
    reader.on("data", (text: string) => events.output(index === 0 ? "stdout" : "stderr", text));
    reader.on("error", () => reader.destroy());
    reader.on("close", () => {
      open -= 1;
      if (open === 0) events.closed();
    });
  });
  child.on("exit", (code, signal) => {
    stdin.destroy();
    events.exited(code ?? 128 + constants.signals[signal ?? "SIGKILL"]);
  });
}
