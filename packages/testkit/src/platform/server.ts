// `platform serve` as a process: its address, its log, and its end, which a test may place at a statement.
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { killAtQuery } from "../crash/index.ts";

export interface PlatformServer {
  url: string;
  child: ChildProcess;
  /** Lines of standard error so far. */
  log(): string[];
  /** Settles when the process has exited, for whatever reason. */
  exited: Promise<ServerExit>;
  stop(signal?: NodeJS.Signals): Promise<ServerExit>;
  /**
   * Kills or stops the process at this statement, counted from when the promise resolves; at 0 it only counts.
   * Rejects where the process has exited already. Needs `killable`.
   */
  killAt(count: number, when: "before" | "sent", signal?: "SIGKILL" | "SIGSTOP"): Promise<void>;
  /** By SIGSTOP. */
  isStopped(): boolean;
  /** Statements since `killAt`. */
  statementCount(): number;
}

export interface ServerExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface StartServer {
  /** `platform.mjs`, of this checkout or of another one. */
  program: string;
  args: string[];
  env: Record<string, string>;
  /** A directory for the files of `killAt`; null where the test does not use it. */
  killable: string | null;
  /** What the command line begins with; empty: node itself. */
  within: string[];
}

/** Resolves when the server listens. */
export async function startServer({ program, args, env, killable, within }: StartServer): Promise<PlatformServer> {
  const name = randomUUID();
  const [plan, count] = [join(killable ?? "", `kill-plan-${name}`), join(killable ?? "", `kill-count-${name}`)];
  const preload = killable === null ? [] : ["--require", killAtQuery];
  const [command = "", ...rest] = [...within, process.execPath, ...preload, program, "serve", ...args];
  const child = spawn(command, rest, {
    env: killable === null ? env : { ...env, KILL_PLAN: plan, KILL_COUNT: count },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = once(child, "exit").then(([code, signal]): ServerExit => ({ code, signal }));
  const log: string[] = [];
  createInterface(child.stderr).on("line", (line) => log.push(line));
  const line = await Promise.race([once(createInterface(child.stdout), "line"), exited.then(() => null)]);
  const url = /^listening on (\S+)$/.exec(String(line?.[0]))?.[1];
  if (!url) throw new Error(`the server did not start: ${log.join("\n")}`);
  const readCount = () => (existsSync(count) ? readFileSync(count, "utf8") : "");
  return {
    url,
    child,
    log: () => log,
    exited,
    async stop(signal = "SIGTERM") {
      child.kill(signal);
      return exited;
    },
    isStopped: () => /^State:\s*T/m.test(readFileSync(`/proc/${child.pid}/status`, "utf8")),
    async killAt(at, when, signal = "SIGKILL") {
      const id = randomUUID();
      writeFileSync(plan, `${id} ${at} ${when} ${signal}`);
      child.kill("SIGUSR2");
      while (!readCount().startsWith(id)) {
        if (child.exitCode !== null || child.signalCode !== null) throw new Error("The server has exited.");
        await sleep(5);
      }
    },
    statementCount: () => Number(readCount().split(" ")[1]),
  };
}
