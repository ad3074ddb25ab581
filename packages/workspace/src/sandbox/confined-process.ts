// One running sandboxed process: its streams, its errors, and how to end it.

import { type ChildProcess, type ChildProcessWithoutNullStreams, type StdioOptions, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import type { Duplex, Readable, Writable } from "node:stream";
import { explainLimit, explainOutput } from "@agentcli/protocol/system-errors";
import { inheritedDescriptors } from "../descriptors/index.ts";
import { bridgeDescriptor } from "../wire/index.ts";

export interface ConfinedProcess {
  pid: number;
  stdin: Writable;
  stdout: Readable;
  /** The end of its stderr. */
  stderr(): string;
  /** Settles when the process has ended. */
  describeEnd(): Promise<string>;
  /** SIGKILL. With a pid namespace this ends everything inside, but does not wait for it. */
  kill(): Promise<void>;
  /** SIGKILL to the first process of its pid namespace. Settles when nothing inside is left. */
  killNamespace(): Promise<void>;
  /** Lets the server end what it started; kills it after a timeout. */
  end(): Promise<void>;
}

/** Carries the system-call filter for bubblewrap, or the plan for the Landlock launcher. */
export const setupDescriptor = 3;
const endTimeoutMs = 5000;
const maxStderrBytes = 4096;

export interface ConfinedCommand {
  program: string;
  argv: string[];
  /** What the program reads from the setup descriptor. */
  setup: Buffer | undefined;
  /** What it reads from further descriptors. */
  files?: { descriptor: number; content: string }[];
  /** Receives the host's end of the bridge, if there is one. */
  onBridge?: ((stream: Duplex) => void) | undefined;
}

export function startConfined({ program, argv, setup, files = [], onBridge }: ConfinedCommand): ConfinedProcess {
  // Node cannot close inherited descriptors, but it can replace them with /dev/null.
  const devNull = openSync("/dev/null", "r");
  const stdio: StdioOptions = ["pipe", "pipe", "pipe", setup === undefined ? devNull : "pipe"];
  // Node creates a connected socket pair: no socket call is needed inside, where the filter would refuse it.
  if (onBridge !== undefined) stdio[bridgeDescriptor] = "pipe";
  for (const { descriptor } of files) stdio[descriptor] = "pipe";
  for (const descriptor of inheritedDescriptors()) stdio[descriptor] ??= devNull;
  // Its own process group: Ctrl-C at the terminal is for the host, which decides when to end the workspace.
  const child = startProcess(program, argv, stdio);
  closeSync(devNull);
  const { stdin, stdout, stderr } = child as ChildProcessWithoutNullStreams;
  if (!stdin) throw tooManyFiles(child, program);
  let stderrTail = "";
  stderr.setEncoding("utf8");
  stderr.on("data", (text: string) => {
    stderrTail = (stderrTail + text).slice(-maxStderrBytes);
  });
  // It may exit before it has read everything; the exit is reported.
  stdin.on("error", () => {});
  for (const { descriptor, content } of [{ descriptor: setupDescriptor, content: setup }, ...files])
    (child.stdio[descriptor] as Writable | null)?.on("error", () => {}).end(content);
  onBridge?.(child.stdio[bridgeDescriptor] as Duplex);
  const ended = describeExit(child);
  const kill = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  const killAfterTimeout = async () => {
    const limit = setTimeout(() => void kill(), endTimeoutMs);
    await ended;
    clearTimeout(limit);
  };
  return {
    pid: child.pid ?? 0,
    stdin,
    stdout,
    stderr: () => stderrTail,
    describeEnd: async () => {
      const end = `its process ${await ended}.`;
      const limit = explainOutput(stderrTail);
      return limit ? `${end} ${limit}` : [end, stderrTail.trim()].filter(Boolean).join(" stderr: ");
    },
    kill,
    // The kernel reports the first process of a namespace as ended only after all others in it have.
    killNamespace: () => (killChildren(child) ? killAfterTimeout() : kill()),
    end() {
      stdin.end();
      return killAfterTimeout();
    },
  };
}

/** Returns false if none could be found: it has ended already, or this kernel does not list children. */
function killChildren({ pid, exitCode }: ChildProcess): boolean {
  if (pid === undefined || exitCode !== null) return false;
  const children = readChildren(pid);
  for (const each of children) killIfAlive(each);
  return children.length > 0;
}

function readChildren(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

function killIfAlive(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended in between.
  }
}

function startProcess(program: string, argv: string[], stdio: StdioOptions): ChildProcess {
  const entries = Array.from(stdio as unknown[], (entry) => entry ?? "ignore") as StdioOptions;
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin" };
  try {
    return spawn(program, argv, { cwd: "/", env, detached: true, stdio: entries });
  } catch (error) {
    // A descriptor above the limit.
    if ((error as NodeJS.ErrnoException).code === "EINVAL") throw descriptorLimit(program);
    throw error;
  }
}

/** Without a descriptor for its streams Node reports the failure only as an event, which nothing could wait for here. */
function tooManyFiles(child: ChildProcess, program: string): Error {
  child.on("error", () => {});
  return descriptorLimit(program);
}

const descriptorLimit = (program: string): Error =>
  Object.assign(new Error(`spawn ${program} EMFILE`), { code: "EMFILE", syscall: `spawn ${program}` });

function describeExit(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.on("error", (error) => resolve(`could not be started (${explainLimit(error) ?? error.message})`));
    child.on("close", (code, signal) => resolve(code === null ? `was ended by ${signal}` : `exited with code ${code}`));
  });
}
