// The composition root of a local run: values chosen from the options of its agent and the files of project and user.
import { type ModelProgress, policyGuard, type SessionStore } from "@agentcli/engine";
import { assembleService, requestedRole, type ServiceAssembly } from "@agentcli/host";
import type { HookDefinition } from "@agentcli/protocol";
import { version } from "../../version.ts";
import { hookSource } from "./hooks.ts";
import { readInstructions } from "./instructions.ts";
import type { Intent } from "./intent.ts";
import { openSandbox } from "./sandboxes.ts";
import { serverSource } from "./servers.ts";
import { selectTools } from "./tool-choice.ts";

export interface AssemblyContext {
  intent: Intent;
  /** Whether the conversation begins with this run. */
  thread: "new" | "existing";
  /** The hooks that the conversation began with; null where they are read now. */
  frozen: HookDefinition[] | null;
  store: SessionStore;
  onProgress(progress: ModelProgress): void;
}

export function openAssembly(context: AssemblyContext, signal: AbortSignal): Promise<ServiceAssembly> {
  const { intent, frozen } = context;
  const { settings, resolved, machine, root, cwd, servers, chosen, options } = intent;
  const { sources, dirs } = resolved;
  const secrets = intent.secrets.map(({ value }) => value);
  const { contextWindow } = chosen.facts;
  return assembleService(
    {
      program: { name: "platform-sdk", version },
      settings,
      thread: context.thread,
      model: chosen.model,
      openSandbox: (mode) => openSandbox(mode, { cwd, dirs, machine, secrets }),
      instructions: readInstructions({ root, cwd, dirs, sources, contextWindow, machine }),
      guard: policyGuard,
      roles: { sources: [roleFiles(intent)], requested: requestedRoles(intent) },
      hooks: async () => hookSource({ frozen, sources, root, cwd, servers, machine, secrets }),
      servers: servers.length === 0 ? null : async () => serverSource(servers, settings, machine),
      selectTools: (available) => selectTools(available, intent.custom, options),
      toolLimitMs: 600_000,
      store: context.store,
      scrub: intent.scrub,
      newId: machine.newId,
      onProgress: context.onProgress,
    },
    signal,
  );
}

/** Without the project, the user's own folder is all there is to read. */
function roleFiles({ root, cwd, resolved: { sources }, machine: { settingsHome } }: Intent) {
  const agentHome = sources.has("user") ? settingsHome : null;
  return sources.has("project") ? { root, cwd, agentHome } : { root: settingsHome, cwd: settingsHome, agentHome };
}

const requestedRoles = ({ options: { agents = {} } }: Intent) =>
  Object.entries(agents).map(([name, agent]) => requestedRole({ name, ...agent }));
