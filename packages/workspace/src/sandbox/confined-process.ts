// One running process with a sandbox around it: its streams, what it said, and how to end it.
import { type ChildProcess, type ChildProcessWithoutNullStreams, type StdioOptions, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import type { Duplex, Readable, Writable } from "node:stream";
import { bridgeDescriptor } from "../egress/bridge-wire.ts";
import { inheritedDescriptors } from "./inherited.ts";

export interface ConfinedProcess {
  stdin: Writable;
  stdout: Readable;
  /** The last of what it wrote to standard error. */
  said(): string;
  /** Settles when it has ended. */
  describeEnd(): Promise<string>;
  /** Ends it and, where it has a pid namespace of its own, everything inside. */
  kill(): Promise<void>;
  /** Lets the server inside end what it started; ends it when that takes too long. */
  end(): Promise<void>;
}

/** What is handed over to whoever puts up the walls: the system-call filter, or a whole plan. */
export const givenDescriptor = 3;
const endLimitMs = 5000;
const saidBytes = 4096;

export interface ConfinedCommand {
  program: string;
  argv: string[];
  /** Read by the program on a descriptor of its own. */
  given: Buffer | undefined;
  /** Takes the host's end of a stream to the server inside, where one is wanted. */
  onBridge?: ((stream: Duplex) => void) | undefined;
}

export function startConfined({ program, argv, given, onBridge }: ConfinedCommand): ConfinedProcess {
  // Node cannot close what it inherited, but it can put something harmless in its place.
  const harmless = openSync("/dev/null", "r");
  const stdio: StdioOptions = ["pipe", "pipe", "pipe", given === undefined ? harmless : "pipe"];
  // Node makes a pair of connected sockets of it: no socket call is needed inside, where the filter would refuse it.
  if (onBridge !== undefined) stdio[bridgeDescriptor] = "pipe";
  for (const descriptor of inheritedDescriptors()) stdio[descriptor] ??= harmless;
  // A group of its own: Ctrl-C at the terminal is for the host, which decides what becomes of the workspace.
  const child = spawn(program, argv, {
    cwd: "/",
    env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
    detached: true,
    stdio: Array.from(stdio, (entry) => entry ?? "ignore"),
  });
  closeSync(harmless);
  const { stdin, stdout, stderr } = child as ChildProcessWithoutNullStreams;
  const givenStream = child.stdio[givenDescriptor] as Writable | null;
  let said = "";
  stderr.setEncoding("utf8");
  stderr.on("data", (text: string) => {
    said = (said + text).slice(-saidBytes);
  });
  // It may end before it has read all; its exit tells.
  stdin.on("error", () => {});
  givenStream?.on("error", () => {});
  givenStream?.end(given);
  onBridge?.(child.stdio[bridgeDescriptor] as Duplex);
  const ended = endOf(child);
  const kill = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  return {
    stdin,
    stdout,
    said: () => said,
    describeEnd: async () => [`its process ${await ended}.`, said.trim()].filter(Boolean).join(" It said: "),
    kill,
    async end() {
      stdin.end();
      const limit = setTimeout(() => void kill(), endLimitMs);
      await ended;
      clearTimeout(limit);
    },
  };
}

function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.on("error", (error) => resolve(`could not be started (${error.message})`));
    child.on("close", (code, signal) => resolve(code === null ? `was ended by ${signal}` : `exited with code ${code}`));
  });
}
