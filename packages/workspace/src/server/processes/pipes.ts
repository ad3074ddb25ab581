// Real pipes for standard streams, made from named ones. Node's own are sockets, on which `> /dev/stderr` fails.
import { spawn } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, rmSync, unlinkSync } from "node:fs";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProgram, systemPath } from "../../programs/index.ts";

export interface Pipe {
  /** Our end; closed by its user. */
  socket: Socket;
  /** The end for the child; to be closed here once the child has it. */
  childEnd: number;
}

export type Direction = "to-child" | "from-child";

export interface PipeSupply {
  /** Makes the next ones ahead of time. */
  warm(): void;
  /** Undefined where they cannot be made; then Node's own have to do. */
  take(direction: Direction): Promise<Pipe | undefined>;
  /** Waits for those that are being made. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

/** One mkfifo (1.5 ms) makes this many. */
const batchSize = 24;
const minPooled = 9;

export function openPipeSupply(): PipeSupply {
  /** Each a pipe without a name, held open for both directions. */
  const pool: number[] = [];
  let state: "open" | "unavailable" | "closed" = process.platform === "linux" ? "open" : "unavailable";
  let refilling: Promise<void> | undefined;
  const reuse = reuseInto(pool, () => state === "open" && pool.length < batchSize);
  const ready = openReadyPipes(pool, reuse);

  function refill(): Promise<void> {
    refilling ??= makeBatch().finally(() => {
      refilling = undefined;
    });
    return refilling;
  }

  async function makeBatch(): Promise<void> {
    if (state !== "open") return;
    const batch = await makePipes();
    pool.push(...batch);
    if (batch.length === 0) state = "unavailable";
  }

  function openAhead(): void {
    if (state !== "open") return;
    ready.fill();
    if (pool.length < minPooled) void refill();
  }

  return {
    warm: () => void refill(),
    async take(direction) {
      setImmediate(openAhead);
      const opened = ready.take(direction);
      if (opened !== undefined) return opened;
      if (pool.length === 0) await refill();
      const both = pool.shift();
      return both === undefined ? undefined : openEnds(both, direction, reuse);
    },
    async settle() {
      await refilling;
    },
    async close() {
      state = "closed";
      await refilling;
      for (const both of pool.splice(0)) closeSync(both);
      ready.close();
    },
  };
}

interface ReadyPipes {
  take(direction: Direction): Pipe | undefined;
  fill(): void;
  close(): void;
}

/** Called with our end of a pipe from a child. */
type Reuse = (socket: Socket, ours: number) => void;

/** The result of the command is sent first. */
const afterResultMs = 2;

/** The pipe of a process that has ended serves another one: to make it anew costs five times as much. */
function reuseInto(pool: number[], hasRoom: () => boolean): Reuse {
  function recycle(reference: number): void {
    try {
      if (hasRoom() && !hasReader(reference)) pool.push(openSync(pathOf(reference), bothDirections));
    } catch {
      // Too many files are open: the pipe is closed.
    } finally {
      closeSync(reference);
    }
  }

  return (socket, ours) => {
    // Its end means that everything was read, and that no process has it open for writing any more.
    socket.prependOnceListener("end", () => {
      const reference = hasRoom() ? openReference(ours) : undefined;
      if (reference !== undefined) socket.once("close", () => setTimeout(recycle, afterResultMs, reference).unref());
    });
  };
}

/** Never waits for the other end. */
const bothDirections = constants.O_RDWR | constants.O_NONBLOCK;

/** O_PATH: refers to a file and is neither a reader nor a writer of it. */
const referenceOnly = 0o10000000;

function openReference(descriptor: number): number | undefined {
  try {
    return openSync(pathOf(descriptor), referenceOnly);
  } catch {
    return undefined;
  }
}

/** A process left behind may have opened its output for reading, and would take that of the next one. */
function hasReader(reference: number): boolean {
  try {
    closeSync(openSync(pathOf(reference), constants.O_WRONLY | constants.O_NONBLOCK));
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ENXIO";
  }
}

const pathOf = (descriptor: number): string => `/proc/self/fd/${descriptor}`;

/** Those of the next process: opened while the one before runs, not while one waits to be started. */
function openReadyPipes(pool: number[], reuse: Reuse): ReadyPipes {
  const opened: Record<Direction, Pipe[]> = { "to-child": [], "from-child": [] };

  function open(direction: Direction, count: number): void {
    while (opened[direction].length < count) {
      const both = pool.shift();
      if (both === undefined) return;
      opened[direction].push(openEnds(both, direction, reuse));
    }
  }

  return {
    take: (direction) => opened[direction].shift(),
    fill() {
      try {
        open("to-child", 1);
        open("from-child", 2);
      } catch {
        // Too many files are open: reported by the process that needs them.
      }
    },
    close() {
      for (const { socket, childEnd } of Object.values(opened).flatMap((pipes) => pipes.splice(0))) {
        socket.destroy();
        closeSync(childEnd);
      }
    },
  };
}

/** Their names are removed at once. Empty if the directory is not writable. */
async function makePipes(): Promise<number[]> {
  const opened: number[] = [];
  try {
    const directory = mkdtempSync(join(tmpdir(), ".agent-pipes-"));
    try {
      const paths = Array.from({ length: batchSize }, (_, index) => join(directory, String(index)));
      await makeNamedPipes(paths);
      for (const path of paths) {
        opened.push(openSync(path, bothDirections | constants.O_NOFOLLOW));
        unlinkSync(path);
      }
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  } catch {
    return opened;
  }
  return opened;
}

let mkfifo: string | undefined;

function makeNamedPipes(paths: string[]): Promise<void> {
  mkfifo ??= findProgram("mkfifo", { path: systemPath, untrusted: [] });
  const program = mkfifo;
  if (program === undefined) throw new Error("mkfifo was not found");
  return new Promise((resolve, reject) => {
    const child = spawn(program, ["-m", "600", ...paths], { stdio: "ignore", env: {} });
    child.on("error", reject);
    child.on("exit", (code) => (code === 0 ? resolve() : reject(new Error(`mkfifo exited with code ${code}`))));
  });
}

/** Opened anew for each direction, so that the child's end is a blocking one and ours is not. */
function openEnds(both: number, direction: Direction, reuse: Reuse): Pipe {
  const opened: number[] = [];
  try {
    for (const flags of [constants.O_RDONLY, constants.O_WRONLY]) opened.push(openSync(pathOf(both), flags));
    if (direction === "to-child") opened.reverse();
    const [ours, childEnd] = opened as [number, number];
    const socket = new Socket({ fd: ours, readable: direction === "from-child", writable: direction === "to-child" });
    if (direction === "from-child") reuse(socket, ours);
    return { socket, childEnd };
  } catch (error) {
    for (const descriptor of opened) closeSync(descriptor);
    throw error;
  } finally {
    closeSync(both);
  }
}
