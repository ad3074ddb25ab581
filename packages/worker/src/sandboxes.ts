// The sandboxes of the agents on this machine: they end with the run of their agent, and not with a connection.
import { mkdirSync, realpathSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Duplex } from "node:stream";
import type { SandboxReport } from "@agentcli/protocol";
import type { OpenRequest, SandboxRequest } from "@agentcli/protocol/worker-link";
import {
  describeSandbox,
  environmentPolicy,
  type OpenedWorkspace,
  openWorkspace,
  type SandboxPolicy,
  type SandboxProbe,
  sandboxPolicy,
  toolEnvironment,
} from "@agentcli/workspace";
import { agentFiles } from "./files.ts";
import type { IdentitySockets } from "./identity.ts";
import { recordResults } from "./recorded-workspace.ts";
import { openResults, removeResults, restoreSandboxes } from "./results.ts";

/** What the agents of this machine are given. */
export interface AgentHost {
  dataDirectory: string;
  /** The built server of workspaces. */
  serverProgram: string;
  probe: Extract<SandboxProbe, { kind: "available" }>;
  /** Of the worker; commands get PATH and LANG alone. */
  variables: NodeJS.ProcessEnv;
  /** The sockets of the agents; absent: they have none. */
  identity?: IdentitySockets;
}

/** Reaches the ports of sandboxes. */
export interface SandboxPorts {
  /** A connection to a port of that sandbox. */
  dial(which: OpenedSandbox, port: number): Promise<Duplex>;
}

export interface AgentSandboxes extends SandboxPorts {
  /** What earlier runs of the agent left running ends. */
  claim(agent: string, runId: string): Promise<void>;
  /** Ends everything of the agent; its files stay. */
  release(agent: string): Promise<void>;
  describe(request: SandboxRequest): DescribedSandbox;
  /** The sandbox with this key and incarnation, or a new one. */
  open(request: OpenRequest): Promise<OpenedWorkspace>;
  close(which: OpenedSandbox): Promise<void>;
  /** Ends everything of the agent, and opens nothing meanwhile: a command could put a link in the way of this work. */
  whileStopped<Result>(agent: string, work: () => Promise<Result>): Promise<Result>;
  closeAll(): Promise<void>;
  /** A sandbox is open: a run is under way, or what it left running. */
  isBusy(): boolean;
}

/** One that the platform has opened. */
interface OpenedSandbox {
  agent: string;
  key: string;
  incarnation: string;
}

export interface DescribedSandbox {
  report: SandboxReport;
  /** Of the sandbox that is open under this key; null if none is. */
  incarnation: string | null;
}

interface OpenSandbox {
  incarnation: string;
  opened: Promise<OpenedWorkspace>;
}

interface HeldAgent {
  runId: string;
  sandboxes: Map<string, OpenSandbox>;
  /** Of sandboxes that an earlier process of this worker had open, and whose results are on disk. */
  earlier: Map<string, string>;
}

/** The directory of an agent as its commands see it. */
const insidePath = "/workspace";

export function openAgentSandboxes(host: AgentHost): AgentSandboxes {
  const held = new Map<string, HeldAgent>();
  const stopped: string[] = [];
  const filesOf = (agent: string) => agentFiles(host.dataDirectory, agent);
  const directoryOf = (agent: string) => dirname(filesOf(agent));
  const end = (agent: string) => endSandboxes(held.get(agent));
  const endForGood = (agent: string) => endWithResults(held.get(agent), directoryOf(agent));
  return {
    async claim(agent, runId) {
      if (held.get(agent)?.runId === runId) return;
      await end(agent);
      held.set(agent, { runId, sandboxes: new Map(), earlier: restoreSandboxes(directoryOf(agent), runId) });
      await mkdir(filesOf(agent), { recursive: true, mode: 0o700 });
    },
    async release(agent) {
      await endForGood(agent);
      await host.identity?.close(agent);
      held.delete(agent);
    },
    describe(request) {
      const { policy } = confinementOf(request, filesOf(request.agent), host);
      const { sandboxes, earlier } = held.get(request.agent) ?? {};
      const incarnation = sandboxes?.get(request.key)?.incarnation ?? earlier?.get(request.key) ?? null;
      return { report: describeSandbox(policy, host.probe), incarnation };
    },
    async open(request) {
      const { sandboxes, runId } = held.get(request.agent) ?? {};
      if (sandboxes === undefined || runId === undefined)
        throw new Error("The platform has not claimed this worker for the agent.");
      const existing = sandboxes.get(request.key);
      if (existing?.incarnation === request.incarnation) return existing.opened;
      await (await existing?.opened.catch(() => undefined))?.close();
      if (stopped.includes(request.agent)) throw new Error("The files of the agent are being exchanged.");
      const results = openResults(directoryOf(request.agent), { ...request, runId });
      const opened = openSandbox(request, filesOf(request.agent), host).then((one) => recordResults(one, results));
      sandboxes.set(request.key, { incarnation: request.incarnation, opened });
      opened.catch(() => sandboxes.delete(request.key));
      return opened;
    },
    dial: (which, port) => dial(held.get(which.agent)?.sandboxes.get(which.key), which, port),
    close: (which) => closeOne(held.get(which.agent), which, directoryOf(which.agent)),
    async whileStopped(agent, work) {
      stopped.push(agent);
      try {
        await endForGood(agent);
        return await work();
      } finally {
        stopped.splice(stopped.indexOf(agent), 1);
      }
    },
    isBusy: () => [...held.values()].some(({ sandboxes }) => sandboxes.size > 0),
    async closeAll() {
      await Promise.all([...held.keys()].map(end));
      await Promise.all([...held.keys()].map((agent) => host.identity?.close(agent)));
    },
  };
}

async function closeOne(
  agent: HeldAgent | undefined,
  { key, incarnation }: OpenedSandbox,
  directory: string,
): Promise<void> {
  const sandbox = agent?.sandboxes.get(key);
  if (sandbox?.incarnation !== incarnation) return;
  agent?.sandboxes.delete(key);
  agent?.earlier.delete(key);
  removeResults(directory, key);
  await (await sandbox.opened.catch(() => undefined))?.close();
}

async function dial(sandbox: OpenSandbox | undefined, { incarnation }: OpenedSandbox, port: number): Promise<Duplex> {
  if (sandbox?.incarnation !== incarnation) throw new Error("This sandbox of the agent is not open.");
  const { dial: reach } = await sandbox.opened;
  if (reach === undefined) throw new Error("This sandbox of the agent has no network.");
  return reach(port);
}

async function endSandboxes(agent: HeldAgent | undefined): Promise<void> {
  const sandboxes = [...(agent?.sandboxes.values() ?? [])];
  agent?.sandboxes.clear();
  await Promise.all(sandboxes.map(async ({ opened }) => (await opened.catch(() => undefined))?.close()));
}

async function endWithResults(agent: HeldAgent | undefined, directory: string): Promise<void> {
  await endSandboxes(agent);
  agent?.earlier.clear();
  removeResults(directory);
}

interface Confinement {
  policy: SandboxPolicy;
  /** Of its commands, with paths as they see them. */
  env: Record<string, string>;
}

/** The policy of the run, enforced here: the agent's own directory, the system's programs, public hosts. */
function confinementOf(request: SandboxRequest, files: string, host: AgentHost): Confinement {
  const own = { home: join(files, ".home"), artifacts: join(files, ".artifacts") };
  for (const directory of Object.values(own)) mkdirSync(directory, { recursive: true, mode: 0o700 });
  const isWritable = request.mode === "workspace-write";
  const root = join(files, request.root);
  const repositories = request.writable.map((path) => join(files, path));
  const policy = sandboxPolicy({
    mode: request.mode,
    root,
    writableRoots: isWritable ? [...repositories, ...Object.values(own)] : [],
    ignoreTops: repositories.length > 0 ? repositories : [root],
    ...(isWritable && { network: "proxy", allowedDomains: ["*"] }),
    view: "system",
    shown: [files],
    placement: { directory: realpathSync(files), path: insidePath },
  });
  const { PATH, LANG = "C.UTF-8" } = host.variables;
  const env = {
    ...toolEnvironment({ PATH, LANG }, { home: `${insidePath}/.home` }),
    CI: "1",
    PLATFORM_ARTIFACTS_DIR: `${insidePath}/.artifacts`,
  };
  return { policy, env };
}

async function openSandbox(request: OpenRequest, files: string, host: AgentHost): Promise<OpenedWorkspace> {
  const { policy, env } = confinementOf(request, files, host);
  const sockets = request.mode === "workspace-write" ? ((await host.identity?.open(request.agent)) ?? null) : null;
  const all = { ...env, ...request.variables, ...(sockets && { PLATFORM_AGENT_SOCKET: "/run/platform/api.sock" }) };
  return openWorkspace(sockets === null ? policy : { ...policy, sockets, unixSockets: "allowed" }, {
    serverProgram: host.serverProgram,
    env: all,
    environmentPolicy: environmentPolicy({ set: all }),
    limits: request.limits,
    backEnd: host.probe.backEnd,
    incarnation: request.incarnation,
  });
}
