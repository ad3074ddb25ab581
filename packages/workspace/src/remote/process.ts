// Carries a process over one byte stream. Each of its streams waits only for its own reader; when the stream ends, so does it.
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Duplex, Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { finished } from "node:stream/promises";
import { openMultiplexer } from "../egress/index.ts";

/** Channels by what they carry; descriptors of the process, but for the first. */
const control = 100;
const streams = { standard: 0, errors: 2, setup: 3, bridge: 4 } as const;

export interface CarriedCommand {
  argv: string[];
}

export interface CarriedStreams {
  stdin: Readable;
  stdout: Writable;
  stderr: Writable;
  setup: Readable;
  bridge: Duplex | null;
}

export interface CarriedProcess {
  /** Its exit code, once all its output was passed on; 255 if the stream ended before it did. */
  ended: Promise<number>;
  /** Kills what is inside; `ended` settles when nothing of it is left. */
  kill(): void;
}

/** The end of the host. */
export async function carryProcess(
  stream: Duplex,
  { argv }: CarriedCommand,
  local: CarriedStreams,
): Promise<CarriedProcess> {
  const multiplexer = await openMultiplexer({ stream });
  const controlled = multiplexer.open(control);
  const standard = multiplexer.open(streams.standard);
  connect(local.stdin, standard, local.stdout);
  connect(null, multiplexer.open(streams.errors), local.stderr);
  connect(local.setup, multiplexer.open(streams.setup), null);
  const { bridge } = local;
  if (bridge) connect(bridge, multiplexer.open(streams.bridge), bridge);
  controlled.write(`${JSON.stringify({ argv, bridge: bridge !== null })}\n`);
  const code = text(controlled).then(
    (answer) => (/^\d+$/.test(answer) ? Number(answer) : 255),
    () => 255,
  );
  const passedOn = Promise.all([finished(local.stdout), finished(local.stderr)]).catch(() => {});
  return { ended: passedOn.then(() => code), kill: () => void controlled.end() };
}

/** The end of the machine: starts the process that the other end asks for. Settles when both have ended. */
export async function serveProcess(stream: Duplex): Promise<void> {
  const channels = new Map<number, Duplex>();
  await new Promise<void>((resolve) => {
    const onChannel = (kind: number, channel: Duplex) => {
      channel.on("error", () => {});
      channels.set(kind, channel);
      if (kind === control) void startWhenAsked(channel, channels).then(resolve, resolve);
    };
    void openMultiplexer({ stream, onChannel });
    stream.once("close", () => channels.has(control) || resolve());
  });
}

async function startWhenAsked(controlled: Duplex, channels: Map<number, Duplex>): Promise<void> {
  const { argv, bridge, ended } = await readCommand(controlled);
  const child = startChild(argv, bridge);
  const { stdio } = child;
  const standard = channels.get(streams.standard);
  if (standard) connect(stdio[1] as Readable, standard, stdio[0] as Writable);
  connect(stdio[2] as Readable, channels.get(streams.errors), null);
  connect(null, channels.get(streams.setup), stdio[3] as Writable);
  const outside = channels.get(streams.bridge);
  if (bridge && outside) connect(stdio[4] as Duplex, outside, stdio[4] as Duplex);
  void ended.then(() => killNamespace(child));
  const code = await new Promise<number>((resolve) => {
    child.once("error", () => resolve(127));
    child.once("close", (exitCode) => resolve(exitCode ?? 137));
  });
  await new Promise<void>((resolve) => {
    controlled.once("close", resolve);
    controlled.end(String(code), () => resolve());
  });
}

interface AskedCommand extends CarriedCommand {
  bridge: boolean;
  /** The other end wants it killed, or is gone. */
  ended: Promise<void>;
}

/** One line; nothing follows but the end. */
function readCommand(controlled: Duplex): Promise<AskedCommand> {
  return new Promise((resolve, reject) => {
    const ended = new Promise<void>((settle) => {
      controlled.once("end", settle);
      controlled.once("close", settle);
    });
    let line = "";
    controlled.on("data", (data: Buffer) => {
      line += data;
      if (line.endsWith("\n")) resolve({ ...(JSON.parse(line) as CarriedCommand & { bridge: boolean }), ended });
    });
    void ended.then(() => reject(new Error("The stream ended before a command came.")));
  });
}

function startChild([program = "", ...args]: string[], bridge: boolean): ChildProcess {
  const stdio = ["pipe", "pipe", "pipe", "pipe", ...(bridge ? (["pipe"] as const) : [])] as "pipe"[];
  return spawn(program, args, { cwd: "/", env: { PATH: "/usr/local/bin:/usr/bin:/bin" }, detached: true, stdio });
}

/** The first process of its pid namespace is its child: the kernel reports its end only after all others in it have ended. */
function killNamespace(child: ChildProcess): void {
  const { pid, exitCode } = child;
  if (pid === undefined || exitCode !== null) return;
  const children = childrenOf(pid);
  if (children.length === 0) return void child.kill("SIGKILL");
  for (const each of children) {
    try {
      process.kill(each, "SIGKILL");
    } catch {
      // It ended in between.
    }
  }
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

function connect(from: Readable | null, channel: Duplex | undefined, to: Writable | null): void {
  if (channel === undefined) return;
  for (const each of [from, channel, to]) each?.on("error", () => {});
  if (from) from.pipe(channel);
  else channel.end();
  if (to) {
    channel.pipe(to);
    channel.once("close", () => to.end());
  } else channel.resume();
}
