// The hooks of an agent: the command hooks of its repositories as they were at its starting commit, run in its sandbox.
import { type HookSource, serverLocations } from "@agentcli/host/hooks";
import { durationMs, repositoryHookFiles } from "@agentcli/project";
import { readHookFiles } from "@agentcli/project/hooks";
import type { HookDefinition, TurnSettings } from "@agentcli/protocol";
import type { McpServer } from "@agentcli/protocol/api";

export interface HooksRequest {
  /** The hooks that the conversation began with; null if it begins now. */
  frozen: HookDefinition[] | null;
  /** Directories of the repositories. */
  roots: string[];
  turn: Pick<TurnSettings, "cwd" | "shell">;
  /** As configured. */
  limit: string | undefined;
  servers: McpServer[];
}

export function hookSource({ frozen, roots, turn, limit = "60s", servers }: HooksRequest): HookSource {
  const { definitions, skipped, warnings } = frozen === null ? readHooks(roots) : withoutSkipped(frozen);
  return {
    definitions,
    skipped,
    frozen: definitions,
    warnings,
    runner: { in: "sandbox", shell: turn.shell },
    limitMs: durationMs(limit),
    projectRoot: turn.cwd,
    servers: serverLocations(servers.map((server) => [server.name, server])),
    transcriptPath: () => null,
  };
}

interface HookSelection {
  definitions: HookDefinition[];
  skipped: { definition: HookDefinition; reason: string }[];
  warnings: string[];
}

/** Skipped hooks are reported in the first run only. */
const withoutSkipped = (frozen: HookDefinition[]): HookSelection => ({
  definitions: frozen,
  skipped: [],
  warnings: [],
});

function readHooks(roots: string[]): HookSelection {
  const read = roots.map((root) => readHookFiles(repositoryHookFiles(root), { directories: [root], repository: root }));
  const judged = read
    .flatMap(({ definitions }) => definitions)
    .map((definition) => ({ definition, reason: whyNot(definition) }));
  return {
    definitions: judged.filter(({ reason }) => reason === null).map(({ definition }) => definition),
    skipped: judged.flatMap(({ definition, reason }) => (reason === null ? [] : [{ definition, reason }])),
    warnings: read.flatMap(({ warnings }) => warnings),
  };
}

/** A conversation on the platform has no start or end that a hook could run at. */
const unsupportedEvents = new Set([
  "sessionStart",
  "sessionEnd",
  "beforeMCPExecution",
  "afterMCPExecution",
  "SessionStart",
  "SessionEnd",
]);

function whyNot({ type = "command", event }: HookDefinition): string | null {
  if (type !== "command") return `hooks of type ${type} do not run on the platform; use a command`;
  return unsupportedEvents.has(event) ? `${event} hooks do not run on the platform` : null;
}
