// The composition root of a run: built from its agent, its request and the server's settings.
import type { Model, Progress, SessionStore, Tool } from "@agentcli/engine";
import {
  assembleService,
  effortOf,
  type FoundHooks,
  type OtherModels,
  requestedRole,
  type ServiceAssembly,
} from "@agentcli/host";
import type { HookDefinition, SandboxMode, ThreadRecord, TurnSettings } from "@agentcli/protocol";
import type { CustomSubagent } from "@agentcli/protocol/api";
import type { OpenedWorkspace } from "@agentcli/workspace";
import type { EgressRecord } from "../../../egress/index.ts";
import type { UsedWorker } from "../../../fleet/index.ts";
import { checkedLookup, type NetworkPolicy, type Settings, version } from "../../../foundation/index.ts";
import { toolPath } from "../../../machines/index.ts";
import type { OpenWorkspace } from "../../../repositories/index.ts";
import type { AgentPaths } from "../agent-paths.ts";
import type { RunSocket } from "../agent-socket.ts";
import { newId } from "../ids.ts";
import { hookWithHostPaths, readHooks, readInstructions, repositoryGuard } from "../repository-files/index.ts";
import type { RunMachine } from "../run-machine.ts";
import {
  artifactsDirectory,
  awsProfile,
  noProxySecrets,
  openProxySecrets,
  type Sandboxes,
  unfinishedRuns,
} from "../sandbox/index.ts";
import { otherModels } from "./model.ts";
import type { RunPlan } from "./plan.ts";
import { hooksOfSession, sessionEndHooks, sessionFields } from "./session-hooks.ts";

export interface AssemblyContext {
  plan: RunPlan;
  /** Of the platform itself. */
  tools: Tool[];
  turn: TurnSettings;
  workspace: OpenWorkspace;
  paths: AgentPaths;
  /** Null: on a worker. */
  machine: RunMachine | null;
  /** Null: the commands run on this server. */
  worker: UsedWorker | null;
  /** Of the machine; null: on a worker, which has its own. */
  socket: RunSocket | null;
  egress: EgressRecord;
  store: SessionStore;
  /** Around every model that is asked. */
  withRecording(model: Model): Model;
  /** The hooks that the conversation began with; null if it begins now. */
  recordedHooks: HookDefinition[] | null;
  host: { settings: Settings; sandboxes: Sandboxes; network: NetworkPolicy };
  onProgress(progress: Progress): void;
}

export interface RunAssembly extends ServiceAssembly {
  /** The directory where the agent puts files for its user. */
  artifacts: string;
}

export async function openAssembly(context: AssemblyContext, signal: AbortSignal): Promise<RunAssembly> {
  const { plan, turn, workspace, paths, worker, recordedHooks, host } = context;
  const { variables, servers, contextWindow } = plan;
  const { limits, prices, compatible_folders: readsOtherTools = true } = host.settings.models;
  const otherTools = readsOtherTools ? "read" : "ignored";
  const roots = rootsOf(workspace);
  const location = worker === null ? "server" : "worker";
  const found = recordedHooks === null || worker !== null ? await readHooks(roots, paths, location) : noHooks;
  const openSandbox = openSandboxes({ ...context, variables });
  // Before there is anything to close.
  const refusal = await worker?.keepHooks(sessionEndHooks(found.definitions, { plan, turn, version }));
  const assembly = await assembleService(
    {
      program: { name: "platform", version },
      settings: turn,
      thread: recordedHooks === null ? "new" : "existing",
      model: context.withRecording(plan.selectedModel.model),
      models: recordedModels(otherModels(host.settings), context),
      programTools: context.tools,
      prices,
      limits,
      unfinishedRuns: unfinishedRuns(host.settings, paths),
      openSandbox: async (mode) => worker?.openSandbox(mode) ?? openSandbox(mode),
      instructions: readInstructions(roots, { cwd: workspace.root, paths, contextWindow, otherTools }),
      guard: await repositoryGuard(roots, host.settings.programDirectory),
      roles: {
        sources: roots.map((root) => ({
          root,
          cwd: root,
          agentHome: null,
          ...(otherTools === "read" && { otherTools: { userHome: null } }),
        })),
        requested: plan.agent.private.customSubagents.map(customRole),
      },
      hooks: {
        recordedHooks: recordedHooks && hooksOfSession(recordedHooks, worker),
        read: () => ({ ...found, definitions: found.definitions.filter(({ event }) => event !== "sessionEnd") }),
        ...(worker && { sessionFields: sessionFields(plan.agent) }),
        runner: { in: "sandbox", shell: turn.shell, onHost: (hook) => hookWithHostPaths(hook, paths) },
        projectRoot: turn.cwd,
      },
      servers: {
        list: servers.map((server) => [server.name, server]),
        variables: {},
        lookupFor: checkedLookup(host.network),
      },
      store: context.store,
      scrub: plan.scrub,
      newId,
      onProgress: context.onProgress,
    },
    signal,
  );
  if (refusal) assembly.notes.push(unkeptHooks(refusal));
  return Object.assign(assembly, { artifacts: artifactsDirectory(paths.directory) });
}

const unkeptHooks = (refusal: string): ThreadRecord => ({
  type: "noted",
  kind: "warning",
  data: { message: `The sessionEnd hooks of the project do not run. ${refusal}`, about: "repository" },
});

const noHooks: FoundHooks = { definitions: [], warnings: [] };

const recordedModels = (
  models: OtherModels,
  { withRecording }: Pick<AssemblyContext, "withRecording">,
): OtherModels => ({
  ...models,
  open: async (settings) => withRecording(await models.open(settings)),
});

/** The first one that is opened is for the tools of the agent: what the environment starts is in it. */
function openSandboxes(context: AssemblyContext & Pick<RunPlan, "variables">) {
  const { host, workspace, paths, machine, socket, egress, variables } = context;
  const proxySecrets = once(() => openProxySecrets(context));
  const nodePath = machine?.use ? toolPath("node") : process.execPath;
  let isFirst = true;
  const start = machine && ((opened: OpenedWorkspace) => egress.during("start", () => machine.prepare(opened)));
  return async (mode: SandboxMode) => {
    const prepare = isFirst && mode === "workspace-write" ? (start ?? undefined) : undefined;
    isFirst = false;
    const { placeholders, variables: trust } = mode === "workspace-write" ? await proxySecrets() : noProxySecrets;
    const request = {
      ...{ mode, workspace, paths, machine: machine?.use ?? null },
      variables: { ...trust, ...(mode === "workspace-write" && awsProfile(socket, nodePath)), ...variables },
      ...{ socket, prepare, egress, placeholders },
    };
    const sandbox = await host.sandboxes.open(request);
    if (prepare && machine?.startsEarly) sandbox.workspace.warm();
    return sandbox;
  };
}

function once<Result>(make: () => Promise<Result>): () => Promise<Result> {
  let made: Promise<Result> | undefined;
  return () => (made ??= make());
}

/** An agent without repositories works in the workspace root. */
const rootsOf = ({ root, repositories }: OpenWorkspace): string[] =>
  repositories.length === 0 ? [root] : repositories.map(({ path }) => path);

function customRole({ model, ...role }: CustomSubagent) {
  const selection = typeof model === "string" ? { id: model } : model;
  return requestedRole({ ...role, model: selection, effort: effortOf(selection) });
}
