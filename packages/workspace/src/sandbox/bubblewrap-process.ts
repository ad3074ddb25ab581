// One running bubblewrap: its streams, what it said, and how to end it.
import { type ChildProcess, type ChildProcessWithoutNullStreams, type StdioOptions, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import type { Duplex, Readable, Writable } from "node:stream";
import { bridgeDescriptor } from "../egress/bridge-wire.ts";
import { inheritedDescriptors } from "./inherited.ts";

export interface BubblewrapProcess {
  stdin: Writable;
  stdout: Readable;
  /** The last of what it wrote to standard error. */
  said(): string;
  /** Settles when it has ended. */
  describeEnd(): Promise<string>;
  /** Ends it and, with its pid namespace, everything inside. */
  kill(): Promise<void>;
}

/** The descriptor the system-call filter is passed through. */
export const seccompDescriptor = 3;
const saidBytes = 4096;

export interface ExtraStreams {
  /** The system-call filter. */
  filter: Buffer | undefined;
  /** Takes the host's end of a stream to the server inside, where one is wanted. */
  onBridge: ((stream: Duplex) => void) | undefined;
}

export function startBubblewrap(
  program: string,
  argv: string[],
  { filter, onBridge }: ExtraStreams,
): BubblewrapProcess {
  // Node cannot close what it inherited, but it can put something harmless in its place.
  const harmless = openSync("/dev/null", "r");
  const stdio: StdioOptions = ["pipe", "pipe", "pipe", filter === undefined ? harmless : "pipe"];
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
  const filterStream = child.stdio[seccompDescriptor] as Writable | null;
  let said = "";
  stderr.setEncoding("utf8");
  stderr.on("data", (text: string) => {
    said = (said + text).slice(-saidBytes);
  });
  // It may end before it has read all; its exit tells.
  stdin.on("error", () => {});
  filterStream?.on("error", () => {});
  filterStream?.end(filter);
  onBridge?.(child.stdio[bridgeDescriptor] as Duplex);
  const ended = endOf(child);
  return {
    stdin,
    stdout,
    said: () => said,
    describeEnd: async () => [`its process ${await ended}.`, said.trim()].filter(Boolean).join(" It said: "),
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.on("error", (error) => resolve(`could not be started (${error.message})`));
    child.on("close", (code, signal) => resolve(code === null ? `was ended by ${signal}` : `exited with code ${code}`));
  });
}
