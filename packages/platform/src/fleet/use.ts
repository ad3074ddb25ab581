// A worker as a run uses it: the agent's files go there, its commands run there, and what has changed comes back.
import { mkdir } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import type { Sandbox } from "@agentcli/host";
import { type SandboxMode, SandboxReport } from "@agentcli/protocol";
import type { OpenRequest, SandboxRequest, SessionHook, WorkerReceives } from "@agentcli/protocol/worker-link";
import { alreadyUsed } from "@agentcli/protocol/worker-link-names";
import {
  connectWorkspace,
  type LazyWorkspace,
  lazyWorkspace,
  type OpenedWorkspace,
  type ResourceLimits,
} from "@agentcli/workspace";
import type { Kysely } from "kysely";
import { z } from "zod";
import type { ObjectStore, Tables } from "../foundation/index.ts";
import { type Caller, caller, readAnswer, WaitExpiredFault, WorkerFault } from "./calls.ts";
import type { ClonableRepository } from "./clones.ts";
import { dialThrough } from "./dial.ts";
import { exchangeFiles, type FileExchange } from "./file-exchange.ts";
import type { Gateway } from "./gateway.ts";
import { awayText } from "./loss.ts";
import { endsWithoutWorker } from "./online.ts";
import { type ClaimedWorker, findClaimed } from "./store.ts";
import { syncStateFile } from "./sync-state.ts";

export interface WorkRequest {
  agentId: string;
  runId: string;
  /** Name of the agent's directories. */
  name: string;
  /** The agent's files on this server. */
  directory: string;
  /** Below that directory: the working directory, and what commands may write. */
  root: string;
  writable: string[];
  /** Environment variables of commands. */
  variables: Record<string, string>;
  limits: ResourceLimits & { diskBytes: number | null };
  /** The run has begun already. */
  isResumed: boolean;
  /** What a worker that clones repositories itself may clone for this run. */
  findClonable(): Promise<ClonableRepository[]>;
  newId(): string;
  /** What the controller of the pool said that could not start a worker. */
  openFailure(sealed: Buffer | null): string;
  /** Each time that a sandbox of its tools has been opened, which they can write in. */
  onOpened(workspace: DialledWorkspace): void;
  /** Gives the run back, so that it is resumed once the worker is there again. */
  yieldRun(): Promise<void>;
}

/** A sandbox on a worker whose ports can be reached. */
export type DialledWorkspace = OpenedWorkspace & Required<Pick<OpenedWorkspace, "dial">>;

export interface Workers {
  /** What the worker that the agent has claimed may get; nothing if it is not connected to this server. */
  receives(agentId: string): Promise<WorkerReceives>;
  /** The worker that the agent has claimed. Throws WorkerFault if it is not connected to this server. */
  use(request: WorkRequest): Promise<UsedWorker>;
}

export interface UsedWorker extends FileExchange {
  /** For people. */
  description: string;
  /** The agent had not claimed this process of the worker before. */
  isNewSession: boolean;
  /** They run when the agent releases the worker, or the worker ends. Returns why it refuses them; null if it has them. */
  keepHooks(hooks: SessionHook[]): Promise<string | null>;
  openSandbox(mode: SandboxMode): Promise<Sandbox>;
}

export interface WorkersOptions {
  db: Kysely<Tables>;
  gateway: Gateway;
  /** Large artifacts come through it. */
  store: ObjectStore;
  /** Where this server remembers what the workers have. */
  syncDirectory: string;
  /** A run that has waited this long for a worker expires. */
  waitSeconds: number;
  /** How long a worker may take to answer a request that carries no files. */
  answerTimeoutMs?: number;
}

export const openWorkers = (options: WorkersOptions): Workers => ({
  async receives(agentId) {
    const claimed = await findClaimed(options.db, agentId);
    return (claimed && options.gateway.find(claimed.team_id, claimed.id)?.receives) ?? {};
  },
  async use(request) {
    const { db, gateway, syncDirectory, answerTimeoutMs } = options;
    const claimed = await findClaimed(db, request.agentId);
    const worker = claimed && gateway.find(claimed.team_id, claimed.id);
    if (claimed?.failed_run_id === request.runId) throw notProvided(request.openFailure(claimed.failure));
    if (claimed === undefined) throw await leaveOrFail(options, request, waitExpired());
    if (worker === undefined) throw await leaveOrFail(options, request, away(claimed));
    if (!(await worker.isAllowed())) throw await giveBack(db, request, away(claimed));
    await mkdir(syncDirectory, { recursive: true, mode: 0o700 });
    const call = caller(worker, request.yieldRun, answerTimeoutMs);
    const { name: agent, runId } = request;
    const claim = await call.plain("agent.claim", { agent, runId }).catch(async (error: Error) => {
      throw error.cause === alreadyUsed ? await giveBack(db, request, error) : error;
    });
    const { isNew, keepsHooks, uploads } = readAnswer("agent.claim", Claimed, claim);
    worker.served.set(agent, { agentId: request.agentId, runId });
    let opened = 0;
    return {
      isNewSession: isNew,
      async keepHooks(hooks) {
        if (!keepsHooks) return null;
        const kept = call.plain("session.hooks", { agent, ...sandboxOf(request), hooks });
        return kept.then(() => null, refusalIn);
      },
      description: `worker ${claimed.name}${claimed.pool === null ? "" : ` of the pool ${claimed.pool}`}`,
      ...exchangeFiles(call, {
        ...request,
        store: uploads ? options.store : null,
        findClonable: async () => (worker.receives.clones ? request.findClonable() : []),
        stateFile: syncStateFile(syncDirectory, agent),
      }),
      openSandbox(mode) {
        opened += 1;
        return openSandbox(call, request, { mode, key: `${mode} ${opened}` });
      },
    };
  },
});

/** A worker that has just gone, whose connection is not complete yet, or whose claim was dropped is waited for. */
async function leaveOrFail({ db, waitSeconds }: WorkersOptions, { runId, yieldRun }: WorkRequest, error: Error) {
  const ends = endsWithoutWorker(waitSeconds).as("ends");
  const run = await db.selectFrom("runs").select(ends).where("runs.id", "=", runId).executeTakeFirst();
  if (run === undefined || run.ends) return error;
  // The row of the worker says that it is here until its end is written: not asked again at once.
  await pause(lookAgainMs);
  await yieldRun();
  return error;
}

const lookAgainMs = 500;

const waitExpired = (): Error =>
  new WaitExpiredFault(
    "No worker was found for this run in time. Start a worker of its pool or machine, then send another prompt.",
  );

/** The worker is for another agent alone: this one waits for the next. A claim of its controller stays. */
async function giveBack(db: Kysely<Tables>, { agentId, yieldRun }: WorkRequest, error: Error): Promise<Error> {
  await db
    .deleteFrom("worker_claims")
    .where("agent_id", "=", agentId)
    .where("service_account_id", "is", null)
    .execute();
  await yieldRun();
  return error;
}

const away = (worker: ClaimedWorker): WorkerFault =>
  new WorkerFault(
    `${awayText(worker)} Its files of the last finished run are on the platform. Start the worker again, then send another prompt.`,
  );

const notProvided = (message: string): WorkerFault =>
  new WorkerFault(`No worker could be started for this run: ${message}`);

/** Throws everything else: the worker is gone, or silent. */
function refusalIn(error: Error): string {
  if (!(error instanceof WorkerFault) || error.cause === undefined) throw error;
  return error.message;
}

/** A worker of an earlier version says nothing. */
const Claimed = z.object({
  isNew: z.boolean().default(false),
  keepsHooks: z.boolean().default(false),
  uploads: z.boolean().default(false),
});

const sandboxOf = (request: WorkRequest) => {
  const { root, writable } = request;
  return { root, writable, ...requestOf(request) };
};

const Described = z.object({ report: SandboxReport, incarnation: z.string().min(1).max(128).nullable() });

/** The sandbox that an earlier driver of the run has opened is found again. */
async function openSandbox(
  call: Caller,
  request: WorkRequest,
  { mode, key }: { mode: SandboxMode; key: string },
): Promise<Sandbox> {
  if (mode === "danger-full-access") throw new WorkerFault("A worker runs every command in a sandbox.");
  const { name: agent, root, writable, newId } = request;
  const wanted: SandboxRequest = { agent, key, mode, root, writable };
  const described = await call.plain("sandbox.describe", wanted);
  const { report, incarnation } = readAnswer("sandbox.describe", Described, described);
  const incarnations = incarnation === null ? [] : [incarnation];
  const workspace = lazyWorkspace({
    root: insideOf(root),
    newIncarnation: () => incarnations.shift() ?? newId(),
    async open(current) {
      const opened = await openRemote(call, { ...wanted, ...requestOf(request), incarnation: current });
      if (mode === "workspace-write") request.onOpened(opened);
      return opened;
    },
  });
  return {
    workspace: guardOperations(workspace, call),
    report,
    writableRoots: mode === "workspace-write" ? [root, ...writable, ".home", ".artifacts"].map(insideOf) : [],
    ...(report.net === "proxy" && { allowedDomains: ["public hosts"] }),
    onConnectionBlocked() {},
  };
}

const insideOf = (path: string): string => (path === "" ? "/workspace" : `/workspace/${path}`);

const requestOf = ({ variables, limits }: WorkRequest): Pick<OpenRequest, "variables" | "limits"> => {
  const { memoryBytes, processes, fileBytes, temporaryBytes } = limits;
  return { variables, limits: { memoryBytes, processes, fileBytes, temporaryBytes } };
};

async function openRemote(call: Caller, request: OpenRequest): Promise<DialledWorkspace> {
  const stream = await call.streaming("sandbox.open", request);
  const workspace = await connectWorkspace({ readable: stream, writable: stream });
  const { agent, key, incarnation } = request;
  return {
    ...workspace,
    dial: (port) => dialThrough(call, { agent, key, incarnation, port }),
    holdOutput: () => void stream.pause(),
    resumeOutput: () => void stream.resume(),
    async close() {
      // What was not told to end is ended by the next run, or by the end of the worker.
      await call.plain("sandbox.close", { agent, key, incarnation }).catch(() => {});
      stream.destroy();
    },
  };
}

/** An operation that the end of the connection cuts off ends after the run was given back. */
const guardOperations = (workspace: LazyWorkspace, { guarded }: Caller): LazyWorkspace => ({
  ...workspace,
  get incarnation() {
    return workspace.incarnation;
  },
  exec: (request, onChunk, signal) => guarded(() => workspace.exec(request, onChunk, signal)),
  read: (request) => guarded(() => workspace.read(request)),
  list: (request) => guarded(() => workspace.list(request)),
  search: (request) => guarded(() => workspace.search(request)),
  edit: (request) => guarded(() => workspace.edit(request)),
  status: () => guarded(() => workspace.status()),
});
