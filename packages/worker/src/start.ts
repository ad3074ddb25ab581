// Runs the worker: connects to the platform, registers, serves its requests, and connects again when the connection is lost.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CommandError } from "@agentcli/command-line";
import type { RegisterRequest } from "@agentcli/protocol/worker-link";
import {
  type Link,
  openLink,
  probeSandbox,
  proxyUnavailable,
  type SandboxProbe,
  supportsProxy,
} from "@agentcli/workspace";
import { dial } from "./connection.ts";
import { openAgentFiles } from "./files.ts";
import type { WorkerOptions } from "./options.ts";
import { type Agents, openRequests } from "./requests.ts";
import { openAgentSandboxes } from "./sandboxes.ts";

/** The program around the worker. */
export interface WorkerProgram {
  /** Where the built programs are. */
  directory: string;
  version: string;
  /** One line, for people. */
  log(line: string): void;
  signal: AbortSignal;
}

const firstPauseMs = 500;
const maxPauseMs = 30_000;

/** Returns when it is stopped. Throws CommandError for what another attempt cannot change. */
export async function startWorker(options: WorkerOptions, program: WorkerProgram): Promise<void> {
  const serverProgram = join(program.directory, "workspace-server.cjs");
  const { dataDirectory, variables } = options;
  const probe = await probeForAgents(options, serverProgram);
  const agents = {
    files: openAgentFiles(dataDirectory),
    sandboxes: openAgentSandboxes({ dataDirectory, serverProgram, probe, variables }),
  };
  const registration = await registrationOf(options, program.version);
  try {
    await stayConnected({ options, program, agents, registration });
  } finally {
    await agents.sandboxes.closeAll();
  }
}

interface Worker {
  options: WorkerOptions;
  program: WorkerProgram;
  agents: Agents;
  registration: RegisterRequest;
}

async function stayConnected(worker: Worker): Promise<void> {
  const { program, options } = worker;
  const { signal, log } = program;
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      const link = await connect(worker);
      const { pool, name } = options;
      log(
        `Connected to ${options.url} as ${pool === undefined ? `the machine ${name}` : `${name} in the pool ${pool}`}. Waiting for agents.`,
      );
      failures = 0;
      await link.closed;
      if (!signal.aborted) log("The connection was lost.");
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof CommandError) throw error;
      log(`No connection to ${options.url}: ${(error as Error).message}`);
    }
    // Jittered, so that the workers of a platform that restarts do not come back at the same moment.
    const pauseMs = Math.min(maxPauseMs, firstPauseMs * 2 ** Math.min(failures, 10)) * (0.5 + Math.random() / 2);
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
  }
}

/** Settles once the platform has accepted the worker. */
async function connect({ options, program, agents, registration }: Worker): Promise<Link> {
  const { url, variables, readKey } = options;
  const { signal } = program;
  const { workerPath } = await import("@agentcli/protocol/worker-link");
  const stream = await dial({ url, path: workerPath, key: readKey(), variables, signal });
  const link = await openLink({ stream, side: "worker", onRequest: await openRequests(agents) });
  try {
    const { stream: answered } = await link.request("register", registration);
    answered.destroy();
    return link;
  } catch (error) {
    link.close();
    const { code, message } = error as { code?: string; message: string };
    if (code === "refused") throw new CommandError("usage", message);
    if (code === "forbidden") throw new CommandError("auth", message);
    throw error;
  }
}

async function registrationOf(options: WorkerOptions, version: string): Promise<RegisterRequest> {
  const { linkVersion } = await import("@agentcli/protocol/worker-link");
  const { workerId, name, pool, labels, workspaceRootPath, repoUrl } = options;
  return {
    ...{ linkVersion, version, workerId, session: randomUUID(), name, labels, workspaceRootPath },
    ...(pool !== undefined && { pool }),
    ...(repoUrl !== undefined && { repoUrl }),
  };
}

/** A machine that cannot confine commands does not become a worker. */
async function probeForAgents({ dataDirectory, variables }: WorkerOptions, serverProgram: string) {
  const agents = join(dataDirectory, "agents");
  const probe: SandboxProbe = await probeSandbox({ path: variables.PATH ?? "", untrusted: [agents], serverProgram });
  if (probe.kind === "unavailable") throw unusable(probe.reason, probe.remedy);
  if (!supportsProxy(probe.backEnd)) throw unusable(...proxyUnavailable(probe.backEnd));
  return probe;
}

const unusable = (reason: string, remedy: string): CommandError =>
  new CommandError("sandbox", `This machine cannot confine the commands of agents. ${reason} ${remedy}`.trim());
