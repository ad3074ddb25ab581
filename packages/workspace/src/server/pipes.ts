// Real pipes for standard streams, made from named ones. Node's own are sockets, on which `> /dev/stderr` fails.
import { spawn } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, rmSync, unlinkSync } from "node:fs";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Pipe {
  /** Our end; closed by whoever uses it. */
  socket: Socket;
  /** The end for the child; to be closed here once the child has it. */
  childEnd: number;
}

export type Direction = "to-child" | "from-child";

export interface PipeSupply {
  /** Makes the next ones ahead of time. */
  warm(): void;
  /** Undefined where named pipes cannot be made; then Node's own have to do. */
  take(direction: Direction): Promise<Pipe | undefined>;
  close(): Promise<void>;
}

/** One mkfifo (1.5 ms) makes this many. */
const batchSize = 48;
const lowWater = 12;

export function openPipeSupply(): PipeSupply {
  const names: string[] = [];
  let directory: string | undefined;
  let state: "open" | "unavailable" | "closed" = "open";
  let making: Promise<void> | undefined;
  let made = 0;

  function make(): Promise<void> {
    making ??= makeBatch().finally(() => {
      making = undefined;
    });
    return making;
  }

  async function makeBatch(): Promise<void> {
    directory ??= makeDirectory();
    const into = directory;
    if (into === undefined || state !== "open") return;
    const batch = Array.from({ length: batchSize }, (_, index) => join(into, String(made + index)));
    made += batchSize;
    if (await makeNamedPipes(batch)) names.push(...batch);
    else if (state === "open") state = "unavailable";
  }

  return {
    warm: () => void make(),
    async take(direction) {
      if (names.length === 0) await make();
      const name = names.shift();
      if (names.length < lowWater && state === "open") void make();
      return name === undefined ? undefined : openPipe(name, direction);
    },
    async close() {
      state = "closed";
      await making;
      if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
    },
  };
}

function makeDirectory(): string | undefined {
  try {
    return mkdtempSync(join(tmpdir(), ".agent-pipes-"));
  } catch {
    return undefined;
  }
}

function makeNamedPipes(paths: string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn("mkfifo", ["-m", "600", ...paths], { stdio: "ignore" });
    child.on("error", () => resolve(false));
    child.on("exit", (code) => resolve(code === 0));
  });
}

/** Undefined when somebody took the name away: commands can reach the directory for temporary files. */
function openPipe(path: string, direction: Direction): Pipe | undefined {
  const opened: number[] = [];
  const open = (flags: number) => {
    const descriptor = openSync(path, flags);
    opened.push(descriptor);
    return descriptor;
  };
  try {
    // Open for both first: one end alone would wait for the other, and the child's end must stay a blocking one.
    const both = open(constants.O_RDWR | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    const toRead = open(constants.O_RDONLY | constants.O_NOFOLLOW);
    const toWrite = open(constants.O_WRONLY | constants.O_NOFOLLOW);
    unlinkSync(path);
    const [ours, childEnd] = direction === "to-child" ? [toWrite, toRead] : [toRead, toWrite];
    const socket = new Socket({ fd: ours, readable: direction === "from-child", writable: direction === "to-child" });
    closeSync(both);
    return { socket, childEnd };
  } catch {
    for (const descriptor of opened) closeSync(descriptor);
    return undefined;
  }
}
