// `agent worker start` as a process: its log, its files, and its end.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import { workerProgram } from "../project.ts";

export interface TestWorker {
  child: ChildProcess;
  /** Lines of standard error so far. */
  log(): string[];
  /** Settles when the process has exited. */
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Where the files of agents are. */
  data: string;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

export interface TestWorkerOptions {
  url: string;
  key: string;
  /** Parent of its data directory, and its home. */
  directory: string;
  args?: string[];
  env?: Record<string, string>;
  /** Words before its command, such as those that run it in another network namespace. */
  prefix?: string[];
}

/** Stopped when the test has finished. */
export function startTestWorker(options: TestWorkerOptions): TestWorker {
  const worker = spawnTestWorker(options);
  onTestFinished(() => worker.stop("SIGKILL"));
  return worker;
}

/** The caller stops it. */
export function spawnTestWorker(options: TestWorkerOptions): TestWorker {
  const { url, key, directory, args = [], env = {}, prefix = [] } = options;
  const data = join(directory, "worker");
  const { PATH = "" } = process.env;
  const started = [...prefix, process.execPath, workerProgram, "worker", "start", "--data-dir", data, ...args];
  const [program = "", ...words] = started;
  const child = spawn(program, words, {
    // In no checkout: a worker in one is for agents of that repository.
    cwd: tmpdir(),
    env: { PATH, HOME: directory, PLATFORM_BACKEND_URL: url, PLATFORM_API_KEY: key, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const log: string[] = [];
  createInterface(child.stderr).on("line", (line) => log.push(line));
  const exited = once(child, "exit").then(([code, signal]) => ({ code, signal }));
  const stop = async (signal: NodeJS.Signals = "SIGTERM") => {
    child.kill(signal);
    await exited;
  };
  return { child, log: () => log, exited, data, stop };
}
