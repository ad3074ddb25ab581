// Everything a local run is driven with, put together from what was asked and what lies around.
import {
  builtInTools,
  type Dependencies,
  type ModelProgress,
  policyGuard,
  type SessionStore,
  type Surroundings,
  type Tool,
} from "@agentcli/engine";
import { practice, priceBook } from "@agentcli/models";
import { wait } from "@agentcli/project";
import type { HookDefinition, SandboxReport, ThreadRecord } from "@agentcli/protocol";
import { composeAgents } from "./agents.ts";
import { readWritten, type Written } from "./context.ts";
import { composeHooks } from "./hooks.ts";
import type { Intent } from "./intent.ts";
import { openPlaces } from "./places.ts";
import { startServers } from "./servers.ts";
import { chosenTools } from "./tool-choice.ts";

export interface EquipmentRequest {
  intent: Intent;
  /** Whether the conversation begins with this run. */
  thread: "new" | "known";
  /** Hooks the conversation began with; null where they are read now. */
  frozen: HookDefinition[] | null;
  store: SessionStore;
  onProgress(progress: ModelProgress): void;
}

export interface Equipment {
  dependencies: Dependencies;
  tools: Tool[];
  hooks: HookDefinition[];
  written: Written;
  surroundings: Surroundings;
  sandbox: SandboxReport;
  /** What is worth knowing about this run, for the log. */
  notes: ThreadRecord[];
  close(): Promise<void>;
}

const toolLimitMs = 600_000;

// Over 60 lines because it is where a run is put together: every part is named once, in the order they need each other.
export async function openEquipment(request: EquipmentRequest, signal: AbortSignal): Promise<Equipment> {
  const { intent, store } = request;
  const { settings, wishes, machine, root, cwd, servers, scrub, chosen, options } = intent;
  const { sources, dirs } = wishes;
  const secrets = intent.secrets.map(({ value }) => value);
  const places = await openPlaces({ mode: settings.sandbox, cwd, dirs, machine, secrets });
  const written = readWritten({ root, cwd, sources, contextWindow: chosen.facts.contextWindow, machine });
  const texts = request.thread === "new" ? written.forThread() : nothingNew;
  const agents = await composeAgents({
    ...{ root, cwd, sources, machine, store, scrub },
    inline: options.agents ?? {},
    dependenciesFor: async ({ sandbox }) => ({
      ...equipment.dependencies,
      workspace: await places.narrowed(sandbox),
      // Readers of the run see what it says itself.
      onProgress() {},
    }),
  });
  const hooks = composeHooks({ frozen: request.frozen, sources, root, cwd, servers, machine, secrets });
  const started = await startServers(
    {
      ...{ servers, cwd, machine },
      workspaceFor: (source) => places.forServers(source === "project" ? settings.sandbox : "danger-full-access"),
    },
    signal,
  );
  const offered = [...builtInTools, ...agents.tools, ...(started?.servers.tools() ?? [])];
  const tools = chosenTools(offered, intent.custom, options);
  const warnings = [...texts.warnings, ...agents.warnings, ...hooks.warnings];
  const equipment: Equipment = {
    tools,
    hooks: hooks.frozen,
    written,
    sandbox: places.report,
    surroundings: {
      ...today(),
      rules: [...texts.rules, ...moreDirectories(request)],
      catalogues: texts.catalogues,
      writableRoots: places.writableRoots,
      network: settings.sandbox === "danger-full-access",
    },
    notes: [
      ...(started?.reports ?? []).map((report): ThreadRecord => ({ type: "noted", kind: "mcp", data: { ...report } })),
      ...warnings.map((message): ThreadRecord => ({ type: "noted", kind: "warning", data: { message } })),
    ],
    dependencies: {
      model: chosen.model,
      workspace: places.main,
      tools,
      family: agents.family,
      hooks: hooks.gate,
      guard: started?.servers.guard(policyGuard) ?? policyGuard,
      repository: written.repository,
      toolLimitMs,
      outputTokens: 10_000,
      price: priceBook({ [practice]: { input: 0, output: 0 } }),
      wait,
      requestOptions: {},
      onProgress(progress) {
        if (progress.type === "calling") places.main.warm();
        // What a command prints is shown when it has ended.
        if (progress.type !== "output") request.onProgress(progress);
      },
    },
    async close() {
      await agents.family.end();
      await hooks.close();
      await started?.servers.close();
      await places.close();
    },
  };
  return equipment;
}

const moreDirectories = ({ thread, intent: { wishes, cwd } }: EquipmentRequest): string[] =>
  thread === "new" && wishes.dirs.length > 0
    ? [`Besides ${cwd} these directories are part of the work: ${wishes.dirs.join(", ")}`]
    : [];

/** A conversation keeps what it began with. */
const nothingNew = { rules: [], catalogues: [], warnings: [] };

const today = () => ({ date: new Date().toISOString().slice(0, 10), timezone: "UTC+00:00" });
