// The composition root of a local run: values chosen from the options of its agent and the files of project and user.
import { tmpdir } from "node:os";
import { type Progress, policyGuard, type SessionStore } from "@agentcli/engine";
import { assembleService, requestedRole, type ServiceAssembly, type ServiceServers } from "@agentcli/host";
import type { HookDefinition } from "@agentcli/protocol";
import { ConfigurationError } from "../../errors.ts";
import { version } from "../../version.ts";
import { hostShell, type Machine } from "../machine.ts";
import { openSandbox, unfinishedRuns } from "../sandbox.ts";
import { hookSearch, readHooks, readInstructions } from "../sources/index.ts";
import { selectTools } from "../tools/index.ts";
import type { Intent } from "./intent.ts";

export interface AssemblyContext {
  intent: Intent;
  /** Whether the conversation begins with this run. */
  thread: "new" | "existing";
  /** The hooks that the conversation began with; null where they are read now. */
  recordedHooks: HookDefinition[] | null;
  store: SessionStore;
  onProgress(progress: Progress): void;
}

export function openAssembly(context: AssemblyContext, signal: AbortSignal): Promise<ServiceAssembly> {
  const { intent, recordedHooks } = context;
  const { settings, resolved, machine, root, cwd, chosen, options } = intent;
  const { sources, dirs, limits } = resolved;
  const secrets = intent.secrets.map(({ value }) => value);
  const { contextWindow } = chosen.facts;
  machine.programs.distrust([cwd, root, ...dirs]);
  const search = hookSearch(root, cwd, dirs);
  return assembleService(
    {
      program: { name: "platform-sdk", version },
      settings,
      thread: context.thread,
      model: chosen.model,
      limits: { hook: "10m" },
      unfinishedRuns: unfinishedRuns(machine),
      openSandbox: (mode, protectedPaths) => openSandbox(mode, { cwd, dirs, protectedPaths, machine, limits, secrets }),
      instructions: readInstructions({ root, cwd, dirs, sources, contextWindow, machine }),
      guard: policyGuard,
      roles: { sources: [roleFiles(intent)], requested: requestedRoles(intent) },
      hooks: {
        recordedHooks,
        read: () => readHooks({ sources, root, machine, search }),
        runner: {
          in: "host",
          environment: withoutSecrets(machine.variables, secrets),
          programs: machine.programs,
          shell: hostShell(machine),
          search,
          locations: [machine.sdkHome, tmpdir()],
        },
        projectRoot: root,
      },
      servers: chooseServers(intent),
      selectTools: (available) => selectTools(available, intent.custom, options),
      store: context.store,
      scrub: intent.scrub,
      newId: machine.newId,
      onProgress: context.onProgress,
    },
    signal,
  );
}

/** Servers of a repository run in the sandbox of the run; those of caller and user as the caller's own processes. */
function chooseServers({ servers, settings: { sandbox }, machine: { variables, programs } }: Intent): ServiceServers {
  const sources = new Map(servers.map(({ name, source }) => [name, source]));
  return {
    list: servers.map(({ name, config }) => [name, config]),
    // A program of the repository must not take the place of the one that the caller means.
    variables: programs.environment(variables),
    sandboxOf: (name) => ((sources.get(name) ?? "project") === "project" ? sandbox : "danger-full-access"),
    refuse: (message) => new ConfigurationError(message, { code: "invalid_option", operation: "agent.send" }),
  };
}

const withoutSecrets = (variables: Machine["variables"], secrets: string[]): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(variables).filter(([name, value]) => name !== "PLATFORM_API_KEY" && !secrets.includes(value ?? "")),
  );

/** Without the project, the user's own folder is all there is to read. */
function roleFiles({ root, cwd, resolved: { sources }, machine: { settingsHome } }: Intent) {
  const agentHome = sources.has("user") ? settingsHome : null;
  const otherTools = { userHome: null };
  return sources.has("project")
    ? { root, cwd, agentHome, otherTools }
    : { root: settingsHome, cwd: settingsHome, agentHome };
}

const requestedRoles = ({ options: { agents = {} } }: Intent) =>
  Object.entries(agents).map(([name, agent]) => requestedRole({ name, ...agent }));
