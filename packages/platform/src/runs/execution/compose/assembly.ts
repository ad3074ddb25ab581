// The composition root of a run: built from its agent, its request and the server's settings.
import type { ModelProgress, SessionStore } from "@agentcli/engine";
import { assembleService, requestedRole, type ServiceAssembly } from "@agentcli/host";
import { durationMs } from "@agentcli/project";
import type { HookDefinition, TurnSettings } from "@agentcli/protocol";
import type { CustomSubagent } from "@agentcli/protocol/api";
import type { NetworkPolicy, Settings } from "../../../foundation/index.ts";
import { version } from "../../../foundation/index.ts";
import type { OpenWorkspace } from "../../../repositories/index.ts";
import { newId } from "../ids.ts";
import { artifactsDirectory, type Sandboxes } from "../sandbox/index.ts";
import { repositoryGuard } from "./guard.ts";
import { hookSource } from "./hooks.ts";
import { readInstructions } from "./instructions.ts";
import { serverSource } from "./servers.ts";
import { parameter, type RunPlan } from "./turn.ts";

export interface AssemblyContext {
  plan: RunPlan;
  turn: TurnSettings;
  workspace: OpenWorkspace;
  /** The agent's repositories and the directories beside them. */
  agentDirectory: string;
  store: SessionStore;
  /** The hooks that the conversation began with; null if it begins now. */
  frozen: HookDefinition[] | null;
  host: { settings: Settings; sandboxes: Sandboxes; network: NetworkPolicy };
  onProgress(progress: ModelProgress): void;
}

export interface RunAssembly extends ServiceAssembly {
  /** The directory where the agent puts files for its user. */
  artifacts: string;
}

export async function openAssembly(context: AssemblyContext, signal: AbortSignal): Promise<RunAssembly> {
  const { plan, turn, workspace, agentDirectory, frozen, host } = context;
  const { variables, servers } = plan;
  const { limits, prices } = host.settings.models;
  const roots = rootsOf(workspace);
  const guard = await repositoryGuard(roots, host.settings.programDirectory);
  const hooks = { frozen, roots, turn, limit: limits?.hook, servers };
  const serverOptions = { limit: limits?.["mcp-start"], network: host.network };
  const assembly = await assembleService(
    {
      program: { name: "platform", version },
      settings: turn,
      thread: frozen === null ? "new" : "existing",
      model: plan.selectedModel.model,
      prices,
      openSandbox: (mode) => host.sandboxes.open({ mode, workspace, agentDirectory, variables }),
      instructions: readInstructions(roots, workspace.root, plan.contextWindow),
      guard,
      roles: {
        sources: roots.map((root) => ({ root, cwd: root, agentHome: null })),
        requested: plan.agent.private.customSubagents.map(customRole),
      },
      hooks: async () => hookSource(hooks),
      servers: servers.length === 0 ? null : async () => serverSource(servers, turn.cwd, serverOptions),
      toolLimitMs: durationMs(limits?.tool ?? "10m"),
      store: context.store,
      scrub: plan.scrub,
      newId,
      onProgress: context.onProgress,
    },
    signal,
  );
  return Object.assign(assembly, { artifacts: artifactsDirectory(agentDirectory) });
}

/** An agent without repositories works in the workspace root. */
const rootsOf = ({ root, repositories }: OpenWorkspace): string[] =>
  repositories.length === 0 ? [root] : repositories.map(({ path }) => path);

function customRole({ model, ...role }: CustomSubagent) {
  const selection = typeof model === "string" ? { id: model } : model;
  return requestedRole({ ...role, model: selection, effort: parameter(selection, "reasoning_effort") });
}
