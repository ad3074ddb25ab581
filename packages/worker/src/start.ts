// Runs the worker: connects to the platform, registers, serves its requests, and connects again when the connection is lost.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CommandError } from "@agentcli/command-line";
import type { RegisterReply, RegisterRequest, WorkerHealth } from "@agentcli/protocol/worker-link";
import { identityRequest, linkVersion, workerPath } from "@agentcli/protocol/worker-link-names";
import {
  type Link,
  openLink,
  probeSandbox,
  proxyUnavailable,
  type SandboxProbe,
  supportsProxy,
} from "@agentcli/workspace";
import { openClaimOrder } from "./claim-order.ts";
import { type Dialled, dial } from "./connection.ts";
import { openAgentFiles } from "./files.ts";
import type { IdentitySockets } from "./identity.ts";
import { openWorkerMetrics, type SessionEnd, type WorkerMetrics } from "./metrics.ts";
import type { WorkerOptions } from "./options.ts";
import type { WorkerProgram } from "./program.ts";
import { type Agents, openRequests } from "./requests.ts";
import { openAgentSandboxes } from "./sandboxes.ts";
import { openSessionHooks } from "./session-hooks.ts";
import { openSessions } from "./sessions.ts";
import type { ArtifactUploads, UploadOptions } from "./uploads.ts";

export { proxyFor } from "./connection.ts";

const firstPauseMs = 500;
const maxPauseMs = 30_000;
/** The platform notices the end of the former process within seconds: this one is then to be there soon. */
const maxElsewherePauseMs = 2_000;

/** Returns when it is stopped, or has served its purpose. Throws CommandError for what another attempt cannot change. */
export async function startWorker(options: WorkerOptions, program: WorkerProgram): Promise<void> {
  const serverProgram = join(program.directory, "workspace-server.cjs");
  const { dataDirectory, variables, session } = options;
  const { log } = program;
  const { opening, probe } = await openAndProbe(options, serverProgram, program.signal);
  let link: Link | null = null;
  const identity = options.hasIdentitySocket ? await openIdentity(dataDirectory, () => link) : undefined;
  const sandboxes = openAgentSandboxes({
    dataDirectory,
    serverProgram,
    probe,
    variables,
    ...(identity && { identity }),
  });
  const sessions = openSessions({ ...session, variables, log }, sandboxes.isBusy);
  const hooks = openSessionHooks(sandboxes, log);
  const uploads = lazyUploads({ dataDirectory, url: options.url, variables, log });
  const inOrder = openClaimOrder();
  const clone = lazyClones(options);
  const agents = { files: openAgentFiles(dataDirectory), sandboxes, sessions, hooks, uploads, clone, inOrder };
  const metrics = openWorkerMetrics(sessions);
  const management =
    options.management && (await (await import("./management.ts")).openManagement(options.management, metrics));
  if (management) log(`Management endpoint: ${management.url}`);
  const registration = registrationOf(options, program.version);
  const stop = new AbortController();
  const signal = AbortSignal.any([program.signal, stop.signal]);
  const worker: Worker = {
    options,
    program: { ...program, signal },
    agents,
    registration,
    metrics,
    opening,
    setLink(current) {
      link = current;
    },
    isStopped: () => program.signal.aborted,
  };
  void sessions.over.then(async (reason) => {
    log(reason);
    await giveUpClaims(link);
    stop.abort();
  });
  try {
    await stayConnected(worker);
  } finally {
    await hooks.runAll();
    await sandboxes.closeAll();
    await sessions.close();
    management?.close();
  }
}

/**
 * Both take as long as this program needs to start: the connection is opened while the sandbox is tried, and used after that.
 * The sandbox first: another process tries it, while this one prepares the connection.
 */
async function openAndProbe(options: WorkerOptions, serverProgram: string, signal: AbortSignal) {
  const probing = probeForAgents(options, serverProgram);
  const opening = openConnection(options, signal);
  opening.catch(() => {});
  const probe = await probing.catch((error: unknown) => {
    void opening.then(({ stream }) => stream.destroy()).catch(() => {});
    throw error;
  });
  return { opening, probe };
}

interface Worker {
  options: WorkerOptions;
  program: WorkerProgram;
  agents: Agents;
  registration: RegisterRequest;
  metrics: WorkerMetrics;
  /** The first connection. */
  opening: Promise<Dialled> | null;
  /** Null while it is not connected. */
  setLink(link: Link | null): void;
  /** By a signal, not because it has served its purpose. */
  isStopped(): boolean;
}

/** Loaded with the first artifact. */
function lazyUploads(options: UploadOptions): ArtifactUploads {
  const load = async () => (await import("./uploads.ts")).openUploads(options);
  return {
    list: async (agent) => (await load()).list(agent),
    upload: async (request) => (await load()).upload(request),
  };
}

/** Loaded with the first repository. */
const lazyClones =
  ({ receives, dataDirectory, variables }: WorkerOptions): Agents["clone"] =>
  async (request) => {
    if (!receives.clones)
      throw new Error("This worker clones no repositories: it was started without --clone-git-repos.");
    return (await import("./clones.ts")).cloneRepositories(request, { dataDirectory, variables });
  };

const giveUpTimeoutMs = 5_000;

/** So that the next prompt of its agents need not wait for a worker that has served its purpose. */
async function giveUpClaims(link: Link | null): Promise<void> {
  const released = link?.request("release", {}).then(({ stream }) => void stream.destroy());
  await Promise.race([released, sleep(giveUpTimeoutMs, undefined, { ref: false })]).catch(() => {});
}

async function stayConnected(worker: Worker): Promise<void> {
  const { program, options, metrics } = worker;
  const { signal, log } = program;
  for (let failures = 0; !signal.aborted; failures += 1) {
    let maxMs = maxPauseMs;
    if (failures > 0) metrics.retrying();
    try {
      const link = await connect(worker);
      const { pool, name } = options;
      log(
        `Connected to ${options.url} as ${pool === undefined ? `the machine ${name}` : `${name} in the pool ${pool}`}. Waiting for agents.`,
      );
      worker.setLink(link);
      metrics.connected();
      failures = 0;
      // Loaded now: registration does not wait for it.
      const { watchHealth } = await import("./health.ts");
      const health = watchHealth((state) => reportHealth(link, state));
      await endOf(link, signal);
      health.stop();
      worker.setLink(null);
      metrics.ended(signal.aborted ? (worker.isStopped() ? "session_aborted" : "session_closed") : "stream_end");
      if (!signal.aborted) log("The connection was lost.");
    } catch (error) {
      metrics.ended(signal.aborted ? "session_aborted" : failureOf(error as Error));
      if (signal.aborted) return;
      if (error instanceof CommandError) throw error;
      if ((error as { code?: string }).code === "elsewhere") maxMs = maxElsewherePauseMs;
      log(`No connection to ${options.url}: ${(error as Error).message}`);
    }
    // Jittered, so that the workers of a platform that restarts do not come back at the same moment.
    const pauseMs = Math.min(maxMs, firstPauseMs * 2 ** Math.min(failures, 10)) * (0.5 + Math.random() / 2);
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
  }
}

/** A platform that does not know the request needs no report. */
const reportHealth = (link: Link, state: WorkerHealth): void =>
  void link.request("health", { state }).then(
    ({ stream }) => void stream.destroy(),
    () => {},
  );

const failureOf = ({ message }: Error): SessionEnd =>
  /timed? ?out/i.test(message) ? "connection_timeout" : "session_error";

/** The connection ends with the worker. */
async function endOf(link: Link, signal: AbortSignal): Promise<void> {
  const close = () => link.close();
  signal.addEventListener("abort", close);
  if (signal.aborted) close();
  await link.closed;
  signal.removeEventListener("abort", close);
}

async function openConnection({ url, variables, readKey }: WorkerOptions, signal: AbortSignal): Promise<Dialled> {
  return dial({ url, path: workerPath, key: readKey(), variables, signal });
}

/** Settles once the platform has accepted the worker. */
async function connect(worker: Worker): Promise<Link> {
  const { options, program, agents, registration, metrics, opening } = worker;
  metrics.connecting();
  worker.opening = null;
  const { stream, limitSilence } = await (opening ?? openConnection(options, program.signal));
  const requests = openRequests(agents, options.logsRequests ? program.log : undefined);
  const link = await openLink({ stream, side: "worker", onRequest: requests.answer });
  try {
    const { reply, stream: answered } = await link.request("register", registration);
    answered.destroy();
    if (options.hasIdentitySocket && !offersIdentity(reply))
      throw Object.assign(new Error(noIdentity), { code: "refused" });
    const silenceMs = silenceIn(reply);
    if (silenceMs !== undefined) limitSilence(silenceMs);
    requests.load();
    return link;
  } catch (error) {
    link.close();
    const { code, message } = error as { code?: string; message: string };
    if (code === "refused") throw new CommandError("usage", message);
    if (code === "forbidden") throw new CommandError("auth", message);
    throw error;
  }
}

const noIdentity =
  "--identity-socket cannot be used: this platform signs no identity tokens. Upgrade the platform, or start the worker without it.";

const offersIdentity = (reply: unknown): boolean => {
  const { offers } = Object(reply) as Partial<RegisterReply>;
  return Array.isArray(offers) && offers.includes(identityRequest);
};

async function openIdentity(dataDirectory: string, link: () => Link | null): Promise<IdentitySockets> {
  const [{ openIdentitySockets }, { askPlatform }] = await Promise.all([
    import("./identity.ts"),
    import("./identity-request.ts"),
  ]);
  return openIdentitySockets(dataDirectory, askPlatform(link));
}

const maxSilenceSeconds = 3_600;

/** By hand: the schemas would take a sixth of the start. */
function silenceIn(reply: unknown): number | undefined {
  const { silenceSeconds } = Object(reply) as Partial<RegisterReply>;
  const isValid = typeof silenceSeconds === "number" && silenceSeconds > 0 && silenceSeconds <= maxSilenceSeconds;
  return isValid ? silenceSeconds * 1_000 : undefined;
}

function registrationOf(options: WorkerOptions, version: string): RegisterRequest {
  const { workerId, name, pool, labels, workspaceRootPath, repoUrl, receives } = options;
  return {
    ...{ linkVersion, version, workerId, session: randomUUID(), name, labels, workspaceRootPath, receives },
    ...(pool !== undefined && { pool }),
    ...(repoUrl !== undefined && { repoUrl }),
  };
}

/** A machine that cannot confine commands does not become a worker. */
async function probeForAgents(options: WorkerOptions, serverProgram: string) {
  const probe = await probeHere(options, serverProgram);
  if (probe.kind === "unavailable") throw unusable(probe.reason, probe.remedy);
  if (!supportsProxy(probe.backEnd)) throw unusable(...proxyUnavailable(probe.backEnd));
  return probe;
}

export const probeHere = ({ dataDirectory, variables }: WorkerOptions, serverProgram: string): Promise<SandboxProbe> =>
  probeSandbox({ path: variables.PATH ?? "", untrusted: [join(dataDirectory, "agents")], serverProgram });

const unusable = (reason: string, remedy: string): CommandError =>
  new CommandError("sandbox", `This machine cannot confine the commands of agents. ${reason} ${remedy}`.trim());
