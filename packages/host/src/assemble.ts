// Puts together everything one run of the agent needs: model, sandbox, tools, sub-agents, hooks, MCP servers.
//
// Three programs run the engine: the command line, the platform and the platform SDK. Each passes an AssemblyRequest;
// how its parts are opened, connected and closed is defined only here.
import {
  builtInTools,
  type Dependencies,
  type Emit,
  type Guard,
  type Log,
  type Model,
  openLog,
  type PromptEnvironment,
  requestUserInput,
  type Scrub,
  type SessionStore,
  type ThreadState,
  type Tool,
  writableRootsGuard,
} from "@agentcli/engine";
import { type ProjectContext, type ThreadTexts, wait } from "@agentcli/project";
import type { HookDefinition, SandboxMode, SandboxReport, ThreadRecord, TurnSettings } from "@agentcli/protocol";
import type { RunCallbacks } from "./callbacks.ts";
import type { Today } from "./date.ts";
import { logBlockedConnections } from "./denials.ts";
import type { HookSource, OpenHooks } from "./hooks.ts";
import { type OtherModels, openNamedModels } from "./other-models.ts";
import type { RepositoryWarnings } from "./repository-changes.ts";
import { type OpenSandbox, openSandboxes, type Sandboxes } from "./sandboxes.ts";
import type { RunningServers, ServerSource } from "./servers.ts";
import { assembleSubagents, type SubagentSettings } from "./sub-agents.ts";

/** What the calling program (CLI, platform, SDK) chooses. */
export interface AssemblyRequest {
  /** The program that drives the run, as the thread records it and MCP servers see it. */
  program: { name: string; version: string };
  settings: TurnSettings;
  /** A new thread reads its instructions from the project's files now; an existing one has them in its first record. */
  thread: "new" | "existing";
  model: Model;
  /** Opens the models that sub-agents name. Absent: they use the provider of `model` for every model. */
  models?: OtherModels | undefined;
  costOf: Dependencies["costOf"];
  requestOptions?: Dependencies["requestOptions"];
  compactionPrompt?: Dependencies["compactionPrompt"];
  /** Checks the final message. Absent: any message is accepted. */
  finalMessageCheck?: Dependencies["finalMessageCheck"];
  /** Opens the sandbox of one mode. Called once for each mode that is used. */
  openSandbox: OpenSandbox;
  instructions: Pick<ProjectContext, "forThread" | "repository">;
  /** Decides whether a tool call may run. */
  guard: Guard;
  /** Null: the run has no sub-agents. */
  subagents: SubagentSettings | null;
  /** Null: no hooks. A function, so that the code for hooks is loaded only if there are hooks. */
  hooks: (() => Promise<HookSource | null>) | null;
  /** Null: no MCP servers. A function for the same reason. */
  servers: (() => Promise<ServerSource>) | null;
  /** Tools of the calling program, such as web search; absent: none. */
  programTools?: Tool[];
  /** Selects the tools that the model is offered. Absent: all available tools. */
  selectTools?(available: Tool[]): Tool[];
  limits: { toolTimeoutMs: number | null; toolOutputTokens: number };
  today: Today;
  store: SessionStore;
  /** Removes secrets from everything that is stored. */
  scrub: Scrub;
  newId(): string;
  callbacks: RunCallbacks;
  /** Warnings of the calling program, shown before those of the assembly. */
  warnings: string[];
  /**
   * About repositories that earlier runs created or changed: those runs were killed before they could say so. Written at the
   * end of the first turn.
   */
  leftoverWarnings?: string[];
}

/** Everything `drive` of the engine needs. `joinServers` (join-servers.ts) replaces `tools` and `dependencies` to add the tools of MCP servers. */
export interface Assembly {
  dependencies: Dependencies;
  tools: Tool[];
  /** Recorded when a thread begins; the same for all its turns. */
  hooks: HookDefinition[];
  /** What the prompt says about where the agent works: date, instructions of the project, what the sandbox allows. */
  promptEnvironment: PromptEnvironment;
  sandbox: SandboxReport;
  /** MCP servers that are starting; `joinServers` waits for them. */
  servers: RunningServers | null;
  /** Notes and warnings to write to the log; `takeNotes` (notes.ts) returns and clears them. */
  notes: ThreadRecord[];
  warnings: string[];
  /** The tools the model is offered: built-in, sub-agent and these MCP tools. */
  offerTools(serverTools: Tool[]): Tool[];
  openLog(state: ThreadState, emit: Emit): Log;
  /** Ends the MCP servers, and what they left running. `close` does so as well. */
  endServers(): Promise<void>;
  close(): Promise<void>;
}

export async function assemble(request: AssemblyRequest): Promise<Assembly> {
  const hookSource = await openHookSource(request);
  const openProtected = (mode: SandboxMode) => request.openSandbox(mode, hookSource?.protectedPaths ?? []);
  const sandboxes = await openSandboxes(openProtected, request.settings);
  const threadInstructions = request.thread === "new" ? await request.instructions.forThread() : noInstructions;
  // `dependencies` and `onAgentIdle` refer to values below: they are called only after `assemble` has returned. By the time
  // a sub-agent starts and asks for `dependencies`, they have the tools of MCP servers.
  const dependencies = () => assembly.dependencies;
  const onAgentIdle = async () => repositoryWarnings?.afterAgent();
  const subagents = assembleSubagents({ ...request, onAgentIdle }, sandboxes, dependencies);
  const hooks = hookSource?.open(sandboxes) ?? noHooks;
  const servers = await startServers(request, sandboxes);
  const repositoryWarnings = await openRepositoryWarnings(request, {
    sandboxes,
    servers,
    supervisor: subagents.supervisor,
  });
  const offerTools = createToolSelector(request, subagents.tools);
  const tools = offerTools([]);
  const assembly: Assembly = {
    tools,
    offerTools,
    hooks: hooks.recordedHooks,
    servers,
    sandbox: sandboxes.main.report,
    promptEnvironment: describeEnvironment(request, sandboxes, threadInstructions),
    notes: [],
    warnings: [...request.warnings, ...threadInstructions.warnings, ...hooks.warnings],
    dependencies: {
      ...fixedDependencies(request, sandboxes),
      tools,
      subagents: subagents.supervisor,
      hooks: hooks.threadHooks,
    },
    openLog(state, emit) {
      const log = openLog(state, { store: request.store, emit, scrub: request.scrub });
      sandboxes.main.onConnectionBlocked(logBlockedConnections(log));
      return repositoryWarnings?.withWarnings(log) ?? log;
    },
    async endServers() {
      await servers?.close();
      await sandboxes.endServerProcesses();
    },
    // Sub-agents first: they use everything else. Sandboxes last: hooks and servers run inside them.
    async close() {
      await subagents.supervisor?.end();
      await hooks.close();
      await servers?.close();
      await sandboxes.close();
      await repositoryWarnings?.afterClose();
    },
  };
  return assembly;
}

/**
 * Undefined if there can be no warning: no earlier run left one, there are no MCP servers, and the sandbox either allows no
 * writes or, as `danger-full-access`, is none, where nothing is watched.
 */
async function openRepositoryWarnings(
  { callbacks, settings, leftoverWarnings = [] }: AssemblyRequest,
  { sandboxes, servers, supervisor }: RunningParts,
): Promise<RepositoryWarnings | undefined> {
  if (settings.sandbox !== "workspace-write" && !servers && leftoverWarnings.length === 0) return undefined;
  const changes = await import("./repository-changes.ts");
  return changes.openRepositoryWarnings({
    sandboxes,
    findServerChanges: async () => servers?.findRepositoryChanges() ?? [],
    hasRunningAgents: () => (supervisor?.overview() ?? []).some(({ status }) => status === "running"),
    warn: callbacks.warn ?? (() => {}),
    leftoverWarnings,
  });
}

interface RunningParts {
  sandboxes: Sandboxes;
  servers: RunningServers | null;
  supervisor: Dependencies["subagents"];
}

/** For an existing thread: its instructions are in its first record. */
const noInstructions: ThreadTexts = { rules: [], catalogues: [], warnings: [] };

/** Dependencies that do not change during the run. */
function fixedDependencies(request: AssemblyRequest, { main, unsandboxedWorkspace }: Sandboxes) {
  const { model, costOf, limits, finalMessageCheck, callbacks, instructions, guard } = request;
  return {
    model,
    openModel: request.models && openNamedModels(request.models, request),
    costOf,
    workspace: main.workspace,
    unsandboxedWorkspace,
    guard: writableRootsGuard(main.writableRoots, guard),
    repository: instructions.repository,
    toolTimeoutMs: limits.toolTimeoutMs,
    toolOutputTokens: limits.toolOutputTokens,
    wait,
    requestOptions: request.requestOptions ?? {},
    compactionPrompt: request.compactionPrompt,
    finalMessageCheck,
    approver: callbacks.approver,
    onProgress(progress) {
      // The model has begun to write a tool call: start the sandboxed process of the workspace now, so that it is ready when the call is complete.
      if (progress.type === "calling") main.workspace.warm();
      callbacks.onProgress(progress);
    },
  } satisfies Partial<Dependencies>;
}

function createToolSelector(request: AssemblyRequest, subAgentTools: Tool[]) {
  const { callbacks, programTools = [], selectTools = (tools) => tools } = request;
  const hostTools = [
    ...builtInTools,
    ...programTools,
    ...(callbacks.approver ? [requestUserInput] : []),
    ...subAgentTools,
  ];
  return (serverTools: Tool[]) => selectTools([...hostTools, ...serverTools]);
}

const describeEnvironment = (
  { today }: AssemblyRequest,
  { main }: Sandboxes,
  { rules, catalogues, baseInstructions, developerInstructions }: Omit<ThreadTexts, "warnings">,
): PromptEnvironment => ({
  ...today,
  rules,
  catalogues,
  baseInstructions,
  developerInstructions,
  writableRoots: main.writableRoots,
  network: main.report.net === "on",
  allowedDomains: main.allowedDomains,
});

const noHooks: OpenHooks = { threadHooks: undefined, recordedHooks: [], warnings: [], async close() {} };

/** Read before the sandboxes open, because the sandboxes protect the files that hooks run. */
async function openHookSource({ hooks, program, newId }: AssemblyRequest) {
  const source = await hooks?.();
  if (!source) return null;
  const { openThreadHooks, protectedPaths } = await import("./hooks.ts");
  return {
    protectedPaths: protectedPaths(source),
    open: ({ main }: Sandboxes): OpenHooks =>
      openThreadHooks(source, { workspace: main.workspace, version: program.version, newId }),
  };
}

async function startServers(request: AssemblyRequest, sandboxes: Sandboxes): Promise<RunningServers | null> {
  if (!request.servers) return null;
  const { openServers } = await import("./servers.ts");
  return openServers(await request.servers(), { client: request.program, openSandbox: sandboxes.forServers });
}
