// What the operator of the worker chose: flags, then variables, then defaults.
import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join, resolve } from "node:path";
import { CommandError, type Invocation } from "@agentcli/command-line";
import type { WorkerLabels, WorkerReceives } from "@agentcli/protocol/worker-link";
import type { WorkerFlag } from "./commands.ts";
import { readLabels } from "./labels.ts";
import { type ListenAddress, readAddress } from "./listen-address.ts";
import { readRemote } from "./remote.ts";
import type { SessionOptions } from "./sessions.ts";

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
  /** What the platform may send here beside the files of agents. */
  receives: WorkerReceives;
  /** Agents get a socket for identity tokens. */
  hasIdentitySocket: boolean;
  /** Each request of the platform is logged. */
  logsRequests: boolean;
  /** Null: no management endpoint. */
  management: ListenAddress | null;
  session: Omit<SessionOptions, "log" | "variables">;
}

export interface WorkerEnvironment {
  variables: NodeJS.ProcessEnv;
  cwd: string;
  userHome: string;
}

const maxDirectories = 20;

/** Throws CommandError. */
export function readWorkerOptions(invocation: Invocation<WorkerFlag>, environment: WorkerEnvironment): WorkerOptions {
  const { variables, cwd, userHome } = environment;
  const { text, list, has } = invocation;
  const data = variables.XDG_DATA_HOME || join(userHome, ".local/share");
  const dataDirectory = resolve(cwd, text("data-dir") ?? join(data, "agent-worker"));
  const directories = list("worker-dir");
  if (directories.length > maxDirectories)
    throw new CommandError("usage", `More than ${maxDirectories} times --worker-dir. Leave some out.`);
  const workspaceRootPath = resolve(cwd, directories[0] ?? ".");
  const pool = onePool(list("pool")) ?? (variables.PLATFORM_WORKER_POOL_NAME || undefined);
  makeDirectory(dataDirectory);
  const management = text("management-addr");
  refuseDesktop(invocation);
  return {
    url: checkedUrl(text("endpoint") ?? variables.PLATFORM_BACKEND_URL),
    readKey: keyReader(invocation, environment),
    workerId: checkedId(text("worker-id") ?? (variables.PLATFORM_AGENT_WORKER_ID || storedId(dataDirectory))),
    name: text("name") ?? (variables.PLATFORM_WORKER_NAME || hostname()),
    pool,
    labels: readLabels(invocation, environment),
    workspaceRootPath,
    repoUrl: readRemote(workspaceRootPath),
    dataDirectory,
    variables,
    receives: receivesOf(invocation, pool),
    hasIdentitySocket: has("identity-socket"),
    logsRequests: has("debug"),
    management: management === undefined ? null : readAddress(management),
    session: sessionOptions(invocation, { pool, variables, dataDirectory }),
  };
}

/** Silently without a desktop, its operator would look for the fault elsewhere. */
function refuseDesktop({ text, has }: Invocation<WorkerFlag>): void {
  const given = has("computer-use")
    ? "computer-use"
    : (["display", "share-desktop"] as const).find((flag) => text(flag) !== undefined);
  if (given === undefined) return;
  throw new CommandError(
    "usage",
    `--${given} cannot be used: agents of this version have no tools that see or control a desktop. Start the worker without it.`,
  );
}

function receivesOf({ has }: Invocation<WorkerFlag>, pool: string | undefined): WorkerReceives {
  if (has("clone-git-repos") && pool === undefined)
    throw new CommandError("usage", "--clone-git-repos is for workers of a pool. Add --pool NAME.");
  const clones = has("clone-git-repos");
  return { secrets: has("sync-dashboard-secrets"), githubToken: has("mint-github-token") || clones, clones };
}

function onePool(names: string[]): string | undefined {
  if (names.length > 1)
    throw new CommandError("usage", "A worker serves one pool. Start another worker for the other.");
  return names[0];
}

const defaultIdleSeconds = 3_600;

/** A personal machine stays, as does one that an operator tells to. */
function sessionOptions(
  { text, has }: Invocation<WorkerFlag>,
  { pool, variables, dataDirectory }: Pick<WorkerOptions, "pool" | "variables" | "dataDirectory">,
): WorkerOptions["session"] {
  const given = text("idle-release-timeout") ?? (variables.PLATFORM_WORKER_IDLE_RELEASE_TIMEOUT || undefined);
  if (given !== undefined && !/^\d{1,7}$/.test(given))
    throw new CommandError(
      "usage",
      `Invalid --idle-release-timeout "${given}": expected seconds, such as 3600; 0 for never.`,
    );
  if (has("single-use") && pool === undefined)
    throw new CommandError("usage", "--single-use is for workers of a pool. Add --pool NAME.");
  return {
    onStart: text("on-session-start"),
    onEnd: text("on-session-end"),
    idleTimeoutMs: (given === undefined ? (pool === undefined ? 0 : defaultIdleSeconds) : Number(given)) * 1_000,
    isSingleUse: has("single-use"),
    usedFile: join(dataDirectory, "used-by"),
  };
}

export function checkedUrl(text: string | undefined): string {
  if (!text)
    throw new CommandError(
      "usage",
      "No platform given. Use --endpoint URL or set PLATFORM_BACKEND_URL, for example to https://platform.example.com.",
    );
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url && /^https?:$/.test(url.protocol)) return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
  throw new CommandError("usage", `Invalid platform address "${text}": expected an http or https URL.`);
}

/** A token of a claim goes before a key: a controller has made it for this worker. */
export function keyReader(
  { text }: Pick<Invocation<WorkerFlag>, "text">,
  { variables, cwd }: Pick<WorkerEnvironment, "variables" | "cwd">,
): () => string {
  const file = text("auth-token-file");
  const given = text("auth-token") ?? text("api-key");
  const known = given ?? (variables.PLATFORM_AUTH_TOKEN || variables.PLATFORM_API_KEY || "");
  const read = () => (file === undefined ? known : readKeyFile(resolve(cwd, file))).trim();
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
