// Everything a run is driven with, put together from its agent, its request, its repositories and the server's settings.
import {
  builtInTools,
  type Dependencies,
  type ModelProgress,
  type SessionStore,
  type Surroundings,
  type Tool,
} from "@agentcli/engine";
import { practice, priceBook } from "@agentcli/models";
import { durationMs, wait } from "@agentcli/project";
import type { HookDefinition, SandboxReport, ThreadRecord, TurnSettings } from "@agentcli/protocol";
import type { Settings } from "../../config/index.ts";
import type { NetworkPolicy } from "../../network/index.ts";
import type { OpenWorkspace } from "../../workspaces/index.ts";
import { composeAgents } from "./agents.ts";
import { composeGuard } from "./guard.ts";
import { composeHooks } from "./hooks.ts";
import type { Sandboxes } from "./place.ts";
import { openPlaces } from "./places.ts";
import { readRepositories, type Written } from "./repository.ts";
import { startServers } from "./servers.ts";
import type { Intent } from "./turn.ts";

export interface EquipmentRequest {
  intent: Intent;
  turn: TurnSettings;
  workspace: OpenWorkspace;
  /** Everything of the agent: its repositories and what it keeps beside them. */
  agentDirectory: string;
  store: SessionStore;
  /** Hooks the conversation began with; null where it begins now. */
  frozen: HookDefinition[] | null;
  host: { settings: Settings; sandboxes: Sandboxes; network: NetworkPolicy };
  onProgress: (progress: ModelProgress) => void;
}

export interface Equipment {
  dependencies: Dependencies;
  tools: Tool[];
  hooks: HookDefinition[];
  written: Written;
  surroundings: Surroundings;
  sandbox: SandboxReport;
  /** Where the agent puts what people should have. */
  artifacts: string;
  /** What is worth knowing about this run, for the log. */
  notes: ThreadRecord[];
  close(): Promise<void>;
}

// Over 60 lines because it is where a run is put together: every part is named once, in the order they need each other.
export async function openEquipment(request: EquipmentRequest, signal: AbortSignal): Promise<Equipment> {
  const { intent, turn, workspace, host, store } = request;
  const { settings } = host;
  const roots = rootsOf(workspace);
  const { agentDirectory } = request;
  const { variables } = intent;
  const guard = await composeGuard(roots, settings.programDirectory);
  const places = await openPlaces({
    sandboxes: host.sandboxes,
    mode: turn.sandbox,
    workspace,
    agentDirectory,
    variables,
  });
  const { main } = places;
  const written = readRepositories(workspace, intent.contextWindow);
  const texts = request.frozen === null ? written.forThread() : nothingNew;
  const custom = intent.agent.private.customSubagents;
  const agents = await composeAgents({
    roots,
    custom,
    store,
    scrub: intent.scrub,
    dependenciesFor: async ({ sandbox }) => ({
      ...equipment.dependencies,
      workspace: await places.narrowed(sandbox),
      // Readers of the run see what it says itself.
      onProgress() {},
    }),
  });
  const hooks = composeHooks({
    frozen: request.frozen,
    roots,
    cwd: turn.cwd,
    shell: turn.shell,
    workspace: main.workspace,
    limitMs: durationMs(settings.models.limits?.hook ?? "60s"),
    servers: intent.servers,
  });
  const started = await startServers(
    { servers: intent.servers, root: turn.cwd, settings, network: host.network, openWorkspace: places.forServers },
    signal,
  );
  const tools = [...builtInTools, ...agents.tools, ...(started?.servers.tools() ?? [])];
  const warnings = [...texts.warnings, ...agents.warnings, ...hooks.warnings];
  const equipment: Equipment = {
    tools,
    hooks: hooks.frozen,
    written,
    sandbox: main.report,
    artifacts: main.artifacts,
    surroundings: {
      ...today(),
      rules: texts.rules,
      catalogues: texts.catalogues,
      writableRoots: main.writableRoots,
      network: false,
      ...(turn.sandbox === "workspace-write" && { allowedDomains: ["public hosts"] }),
    },
    notes: [
      ...(started?.reports ?? []).map((report): ThreadRecord => ({ type: "noted", kind: "mcp", data: { ...report } })),
      ...warnings.map((message): ThreadRecord => ({ type: "noted", kind: "warning", data: { message } })),
    ],
    dependencies: {
      model: intent.chosen.model,
      workspace: main.workspace,
      tools,
      family: agents.family,
      hooks: hooks.gate,
      guard: started?.servers.guard(guard) ?? guard,
      repository: written.repository,
      toolLimitMs: durationMs(settings.models.limits?.tool ?? "10m"),
      outputTokens: 10_000,
      price: priceBook({ [practice]: { input: 0, output: 0 }, ...settings.models.prices }),
      wait,
      requestOptions: {},
      onProgress(progress) {
        if (progress.type === "calling") main.workspace.warm();
        // What a command prints is shown when it has ended.
        if (progress.type !== "output") request.onProgress(progress);
      },
    },
    async close() {
      await agents.family.end();
      await started?.servers.close();
      await places.close();
    },
  };
  return equipment;
}

/** An agent without repositories has a directory that is one to itself. */
const rootsOf = ({ root, repositories }: OpenWorkspace): string[] =>
  repositories.length === 0 ? [root] : repositories.map(({ path }) => path);

const nothingNew = { rules: [], catalogues: [], warnings: [] };

const today = () => ({ date: new Date().toISOString().slice(0, 10), timezone: "UTC+00:00" });
