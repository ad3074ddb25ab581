// Hooks and MCP servers of a run: what reads and starts them is loaded only where there are some.
import type { AssemblyRequest, RunContext, RunOptions } from "@agentcli/host";
import { findHookFiles, type LoadedConfig } from "@agentcli/project";
import type { TurnSettings } from "@agentcli/protocol";
import type { Program } from "../program.ts";

export interface InProgram {
  program: Program;
  context: RunContext;
}

interface Chosen {
  settings: TurnSettings;
  loaded: LoadedConfig;
}

/** Loaded only where servers are configured and enabled. */
export function chooseServers(
  { settings, loaded }: Chosen,
  program: Program,
  { callbacks: { elicit }, tape }: RunContext,
) {
  const { config } = loaded;
  if (tape?.servers === "none") return null;
  const isEnabled = Object.values(config.mcp_servers ?? {}).some(({ enabled }) => enabled !== false);
  if (!isEnabled) return null;
  return async () => (await import("../mcp/source.ts")).serverSource(config, settings.cwd, { program, elicit });
}

/** Loaded only where there are hook files, or the thread began with hooks. */
export function chooseHooks(
  { settings, loaded }: Chosen,
  options: RunOptions,
  { program, context }: InProgram,
): AssemblyRequest["hooks"] {
  const { agentHome: home, systemDirectory } = program.environment;
  const files = findHookFiles({ home, systemDirectory, cwd: settings.cwd, loaded });
  const frozen = context.recorded?.hooks ?? null;
  if (files.length === 0 && !frozen?.length) return null;
  const request = {
    files,
    frozen,
    settings,
    loaded,
    options,
    program,
    transcriptPath: context.store.path,
    runIn: context.hooks === "sandboxed" ? ("sandbox" as const) : ("host" as const),
  };
  return async () => (await import("../hooks/source.ts")).hookSource(request);
}
