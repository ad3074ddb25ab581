// What the operator of the worker chose: flags, then variables, then defaults.
import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join, resolve } from "node:path";
import { CommandError, type Invocation } from "@agentcli/command-line";
import type { WorkerLabels } from "@agentcli/protocol/worker-link";
import type { WorkerFlag } from "./commands.ts";
import { readRemote } from "./remote.ts";

export interface WorkerOptions {
  /** Of the platform, without a slash at the end. */
  url: string;
  /** Read for each connection. */
  readKey(): string;
  workerId: string;
  name: string;
  pool: string | undefined;
  labels: WorkerLabels;
  workspaceRootPath: string;
  repoUrl: string | undefined;
  dataDirectory: string;
  variables: NodeJS.ProcessEnv;
}

export interface WorkerEnvironment {
  variables: NodeJS.ProcessEnv;
  cwd: string;
  userHome: string;
}

/** Throws CommandError. */
export function readWorkerOptions(invocation: Invocation<WorkerFlag>, environment: WorkerEnvironment): WorkerOptions {
  const { variables, cwd, userHome } = environment;
  const { text, list } = invocation;
  const data = variables.XDG_DATA_HOME || join(userHome, ".local/share");
  const dataDirectory = resolve(cwd, text("data-dir") ?? join(data, "agent-worker"));
  const workspaceRootPath = resolve(cwd, text("worker-dir") ?? ".");
  const name = text("name") ?? hostname();
  const pool = text("pool") ?? (variables.PLATFORM_WORKER_POOL_NAME || undefined);
  const repoUrl = readRemote(workspaceRootPath);
  makeDirectory(dataDirectory);
  return {
    url: checkedUrl(text("endpoint") ?? variables.PLATFORM_BACKEND_URL),
    readKey: keyReader(text("auth-token-file"), environment),
    workerId: checkedId(text("worker-id") ?? variables.PLATFORM_AGENT_WORKER_ID ?? storedId(dataDirectory)),
    name,
    pool,
    labels: readLabels(list("label")),
    workspaceRootPath,
    repoUrl,
    dataDirectory,
    variables,
  };
}

function checkedUrl(text: string | undefined): string {
  if (!text)
    throw new CommandError(
      "usage",
      "No platform given. Use --endpoint URL or set PLATFORM_BACKEND_URL, for example to https://platform.example.com.",
    );
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url && /^https?:$/.test(url.protocol)) return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
  throw new CommandError("usage", `Invalid platform address "${text}": expected an http or https URL.`);
}

function keyReader(file: string | undefined, { variables, cwd }: WorkerEnvironment): () => string {
  const read = () => (file === undefined ? (variables.PLATFORM_API_KEY ?? "") : readKeyFile(resolve(cwd, file))).trim();
  const check = () => {
    const key = read();
    if (/^[\x21-\x7e]+$/.test(key)) return key;
    throw new CommandError(
      "auth",
      "No API key for the platform. Set PLATFORM_API_KEY, or name a file with --auth-token-file. A machine of yours needs your key, a pool the key of a service account: platform keys create.",
    );
  };
  check();
  return check;
}

function readKeyFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new CommandError("auth", `The key file ${path} cannot be read: ${(error as Error).message}.`);
  }
}

function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new CommandError(
      "usage",
      `The data directory ${path} cannot be made: ${(error as Error).message}. Choose another with --data-dir.`,
    );
  }
}

/** The same after a restart, so that agents find their files. */
function storedId(dataDirectory: string): string {
  const file = join(dataDirectory, "worker-id");
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    const id = randomUUID();
    writeFileSync(file, `${id}\n`, { mode: 0o600 });
    return id;
  }
}

function checkedId(id: string): string {
  if (/^[\w.-]{1,128}$/.test(id)) return id;
  throw new CommandError(
    "usage",
    `Invalid worker id "${id}": at most 128 letters, digits, dots, dashes and underscores.`,
  );
}

/** These are set by the worker itself. */
const reserved = ["repo", "pool", "name"];

function readLabels(pairs: string[]): WorkerLabels {
  const labels: Record<string, string[]> = {};
  for (const pair of pairs) {
    const [, key = "", value = ""] = /^([^=]+)=(.*)$/s.exec(pair) ?? [];
    if (key === "") throw new CommandError("usage", `Invalid label "${pair}": expected KEY=VALUE.`);
    if (reserved.includes(key))
      throw new CommandError(
        "usage",
        `The label ${key} is set by the worker itself; use --${key === "repo" ? "worker-dir" : key} instead.`,
      );
    labels[key] = [...(labels[key] ?? []), value];
  }
  return Object.fromEntries(
    Object.entries(labels).map(([key, values]) => [key, values.length === 1 ? (values[0] ?? "") : values]),
  );
}
