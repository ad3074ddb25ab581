// The environment a login shell would give, captured once per shell and kept.

import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";
import type { Environment } from "../../environment/index.ts";
import { signalGroup } from "./terminate.ts";

export interface LoginEnvironments {
  /** Never fails: if the shell fails or takes over ten seconds, this is the plain environment. */
  of(shell: string): Promise<Environment>;
}

interface Options {
  cwd: string;
  env: Environment;
  isDenied: (name: string, value: string) => boolean;
}

const captureTimeoutMs = 10_000;
const graceMs = 500;
/** Profiles may print; the environment follows this marker. */
const marker = "\0agent-login-environment\0";
/** Variables of the capturing shell only. */
const shellOnly = new Set(["_", "SHLVL", "PWD", "OLDPWD"]);

export function openLoginEnvironments(options: Options): LoginEnvironments {
  const captured = new Map<string, Promise<Environment>>();
  return {
    of(shell) {
      const cached = captured.get(shell);
      if (cached !== undefined) return cached;
      const fresh = capture(shell, options).then((output) => merge(output, options));
      captured.set(shell, fresh);
      return fresh;
    },
  };
}

/** Everything the shell printed; empty when it failed. */
function capture(shell: string, { cwd, env }: Options): Promise<string> {
  return new Promise((resolve) => {
    const script = "printf '\\0agent-login-environment\\0'; env -0";
    const child = spawn(shell, ["-lc", script], { cwd, env, detached: true, stdio: ["ignore", "pipe", "ignore"] });
    const parts: Buffer[] = [];
    const limit = setTimeout(() => void end(child), captureTimeoutMs);
    const settle = (output: string) => {
      clearTimeout(limit);
      resolve(output);
    };
    child.stdout?.on("data", (part: Buffer) => parts.push(part));
    child.on("error", () => settle(""));
    child.on("close", (code) => settle(code === 0 ? Buffer.concat(parts).toString() : ""));
  });
}

/** First asked to: profiles hold locks, and a killed one leaves them to every later shell. */
async function end(child: ChildProcess): Promise<void> {
  const { pid } = child;
  if (pid === undefined) return;
  signalGroup(pid, "SIGTERM");
  await wait(graceMs);
  signalGroup(pid, "SIGKILL");
  child.stdout?.destroy();
}

/** A profile cannot set denied names; explicitly set ones keep their value. */
function merge(output: string, { env, isDenied }: Options): Environment {
  const start = output.lastIndexOf(marker);
  if (start < 0) return env;
  const login: Environment = {};
  for (const line of output.slice(start + marker.length).split("\0")) {
    const equals = line.indexOf("=");
    if (equals <= 0) continue;
    const name = line.slice(0, equals);
    const value = line.slice(equals + 1);
    if (!shellOnly.has(name) && !isDenied(name, value)) login[name] = value;
  }
  const explicit = Object.entries(env).filter(([name, value]) => isDenied(name, value) || shellOnly.has(name));
  return {
    ...login,
    ...(login.PATH !== undefined && { PATH: joinPaths(env.PATH, login.PATH) }),
    ...Object.fromEntries(explicit),
  };
}

/** The caller's first: profiles of many systems set PATH anew. */
function joinPaths(own: string | undefined, login: string): string {
  const entries = [...(own ?? "").split(":"), ...login.split(":")].filter((entry) => entry !== "");
  return [...new Set(entries)].join(":");
}
