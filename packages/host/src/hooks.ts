// Opens the hooks of a run for the engine. Loaded only if there are hooks.
import type { ThreadHooks } from "@agentcli/engine";
import { type HookRunner, openHooks, type ServerLocation } from "@agentcli/engine/hooks";
import { hookDialects, isUnchanged } from "@agentcli/project/hooks";
import type { HookDefinition, McpServer, Workspace } from "@agentcli/protocol";
import type { HostPrograms } from "@agentcli/workspace";
import { type CopyOptions, copyHooks, type HookCopies } from "./hook-copies.ts";
import { type HostRunner, hostRunner } from "./hook-runner.ts";
import { workspaceRunner } from "./workspace-hook-runner.ts";

interface InSandbox {
  in: "sandbox";
  shell: string;
  /** The definition with paths of the host, which checks its files; absent if commands see the same paths. */
  onHost?(definition: HookDefinition): HookDefinition;
}

export interface HookSource {
  definitions: HookDefinition[];
  /** Hooks that do not run, each with the reason. */
  skipped: { definition: HookDefinition; reason: string }[];
  /** Keys of recorded hooks that are not written like that any more: they do not run, and what they guard is refused. */
  unwritten?: string[];
  /** Recorded in a new thread: its later turns use these definitions, even if the files change. */
  recordedHooks: HookDefinition[];
  warnings: string[];
  /** Where hooks run: as processes of the host, or inside the sandbox. */
  runner:
    | ({ in: "host"; environment: NodeJS.ProcessEnv; programs: HostPrograms; shell: string } & CopyOptions)
    | InSandbox;
  limitMs: number | null;
  projectRoot: string;
  /** More members of the payload at the start of a session. */
  sessionFields?: Record<string, unknown>;
  servers: Record<string, ServerLocation>;
  transcriptPath(threadId: string): string | null;
}

export interface OpenHooks {
  threadHooks: ThreadHooks | undefined;
  /** Those of the source. */
  recordedHooks: HookDefinition[];
  warnings: string[];
  /** Ends processes that hooks left running. */
  close(): Promise<void>;
}

export interface HookContext {
  /** The sandbox of the run's tools. */
  workspace: Workspace;
  version: string;
  newId(): string;
}

export function openThreadHooks(source: HookSource, context: HookContext): OpenHooks {
  const { definitions, skipped, recordedHooks, warnings, runner: _, unwritten = [], ...options } = source;
  if (definitions.length === 0 && skipped.length === 0)
    return { threadHooks: undefined, recordedHooks, warnings, async close() {} };
  const { version } = context;
  const { notices, close, isUnchanged: isSame, runner } = openRunner(source, context);
  const isUnchanged = async (definition: HookDefinition) => !unwritten.includes(definition.key) && isSame(definition);
  const dialects = hookDialects;
  const threadHooks = openHooks({ ...options, definitions, skipped, dialects, runner, isUnchanged, version });
  return { threadHooks, recordedHooks, warnings: [...warnings, ...notices], close };
}

function openRunner({ runner, definitions, projectRoot }: HookSource, { workspace, version, newId }: HookContext) {
  const { shell } = runner;
  if (runner.in === "host") {
    const host = hostRunner({ ...runner, projectRoot, version, incarnation: newId() });
    return openCopiedRunner(host, copyHooks(definitions, runner));
  }
  const inside = workspaceRunner({ workspace, shell, version, newId });
  const { onHost = (definition) => definition } = runner;
  return {
    runner: inside,
    isUnchanged: (definition: HookDefinition) => isUnchanged(onHost(definition)),
    notices: [],
    async close() {},
  };
}

/** Runs every hook from its copy. Files in the workspace that were changed since count as a change of the hook. */
function openCopiedRunner(host: HostRunner, copies: HookCopies) {
  const runner: HookRunner = {
    async run(request, signal) {
      const command = copies.commandOf(request.definition);
      if (command === null) return { kind: "modified" };
      return host.run({ ...request, definition: { ...request.definition, command } }, signal);
    },
  };
  return {
    runner,
    isUnchanged,
    notices: copies.warnings,
    async close() {
      await host.close();
      copies.close();
    },
  };
}

/** What the hooks of a run can reach in the workspace. */
export const protectedPaths = ({ definitions }: Pick<HookSource, "definitions">): string[] => [
  ...new Set(
    definitions.flatMap(({ source, script, files = [] }) => [
      ...(source.path === "-c" ? [] : [source.path]),
      ...[script ?? [], files].flat().map(({ path }) => path),
    ]),
  ),
];

export type ServerCommand = Pick<McpServer, "url" | "command" | "args">;

/** Servers as hooks about MCP calls see them: an address or a command line. */
export const serverLocations = (servers: [name: string, server: ServerCommand][]): Record<string, ServerLocation> =>
  Object.fromEntries(
    servers.map(([name, { url, command = "", args = [] }]) => [
      name,
      url === undefined ? { command: [command, ...args].join(" ") } : { url },
    ]),
  );
