// Starts the program of the operator that brings up a worker, with what it needs in its environment.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { foreignTextFor } from "@agentcli/command-line";
import type { PendingRequest } from "@agentcli/protocol/api";
import type { Controller } from "./controller-types.ts";
import { operatorVariables } from "./operator-variables.ts";

export interface SpawnRequest {
  /** Null: a worker to keep warm. */
  request: PendingRequest | null;
  workerId: string;
  pool: string;
  token?: string | undefined;
  expiresAt?: string | undefined;
}

/** Null once the program has ended well: the worker may live on without it. Otherwise what went wrong. */
export async function spawnWorker({ options, program }: Controller, spawned: SpawnRequest): Promise<string | null> {
  const { variables, cwd } = program.environment;
  const child = spawn(resolve(cwd, options.spawn), [], {
    cwd,
    env: { ...operatorVariables(variables), ...variablesOf(spawned, options) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [last, rest] = ["", ""];
  // Both outputs are log lines: a program whose standard output was closed ends, and a controller must not.
  const show = (text: string) => void process.stderr.write(foreignTextFor(process.stderr, text));
  child.stdout?.setEncoding("utf8").on("data", show);
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    show(text);
    const lines = (rest + text).slice(-2_000).split("\n");
    rest = lines.pop() ?? "";
    last = lines.findLast((line) => line.trim() !== "") ?? last;
  });
  try {
    const [code, signal] = await once(child, "exit");
    if (code === 0) return null;
    return `The spawn program ended with ${signal ?? `exit code ${code}`}. ${rest.trim() || last.trim()}`.trim();
  } catch (error) {
    return `The spawn program could not be started: ${(error as Error).message}.`;
  }
}

/** The key of the controller is the program's only where no token was asked for. */
function variablesOf(
  { request, workerId, pool, token, expiresAt }: SpawnRequest,
  { url, readKey }: Controller["options"],
): Record<string, string> {
  const repoUrl = request?.repoUrl;
  return {
    ...(request && {
      PLATFORM_REQUEST_ID: request.id,
      PLATFORM_BC_ID: request.id,
      PLATFORM_USER_ID: String(request.userId),
    }),
    ...(repoUrl !== undefined && {
      PLATFORM_REPO_URL: repoUrl,
      PLATFORM_REPO_OWNER: request?.repoOwner ?? "",
      PLATFORM_REPO_NAME: request?.repoName ?? "",
      PLATFORM_REPO_URLS: JSON.stringify([repoUrl]),
    }),
    PLATFORM_POOL: pool,
    PLATFORM_WORKER_POOL_NAME: pool,
    PLATFORM_AGENT_WORKER_ID: workerId,
    PLATFORM_WORKER_NAME: workerId,
    PLATFORM_API_URL: url,
    PLATFORM_API_ENDPOINT: url,
    PLATFORM_BACKEND_URL: url,
    ...(token === undefined
      ? { PLATFORM_API_KEY: readKey() }
      : { PLATFORM_AUTH_TOKEN: token, PLATFORM_AUTH_TOKEN_EXPIRES_AT: expiresAt ?? "" }),
  };
}
