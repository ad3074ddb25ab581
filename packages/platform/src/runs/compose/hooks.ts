// The hooks of an agent: the command hooks of its repositories as they were at its starting commit, run where it works.
import type { HookGate } from "@agentcli/engine";
import { openHooks, type ServerPlace } from "@agentcli/engine/hooks";
import { repositoryHookFiles } from "@agentcli/project";
import { isUnchanged, readHookFiles } from "@agentcli/project/hooks";
import type { HookDefinition, Workspace } from "@agentcli/protocol";
import type { McpServer } from "@agentcli/protocol/api";
import { version } from "../../version.ts";
import { workspaceRunner } from "./hook-runner.ts";

export interface HooksRequest {
  /** Of a conversation that goes on: what it began with. */
  frozen: HookDefinition[] | null;
  /** Directories of the repositories. */
  roots: string[];
  cwd: string;
  shell: string;
  workspace: Workspace;
  limitMs: number | null;
  servers: McpServer[];
}

export interface ComposedHooks {
  gate: HookGate | undefined;
  /** To be kept with the conversation. */
  frozen: HookDefinition[];
  warnings: string[];
}

export function composeHooks({ frozen, roots, cwd, shell, workspace, limitMs, servers }: HooksRequest): ComposedHooks {
  const { definitions, skipped, warnings } = frozen === null ? readHooks(roots) : kept(frozen);
  if (definitions.length === 0 && skipped.length === 0) return { gate: undefined, frozen: [], warnings };
  const gate = openHooks({
    definitions,
    skipped,
    runner: workspaceRunner({ workspace, shell }),
    isUnchanged,
    limitMs,
    projectRoot: cwd,
    version,
    servers: Object.fromEntries(servers.map((server) => [server.name, placeOf(server)])),
    transcriptPath: () => null,
  });
  return { gate, frozen: definitions, warnings };
}

interface ChosenHooks {
  definitions: HookDefinition[];
  skipped: { definition: HookDefinition; reason: string }[];
  warnings: string[];
}

/** What was passed over is said in the first run. */
const kept = (frozen: HookDefinition[]): ChosenHooks => ({ definitions: frozen, skipped: [], warnings: [] });

function readHooks(roots: string[]): ChosenHooks {
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

/** A conversation on the platform has no beginning or end that a hook could be told of. */
const neverHere = new Set([
  "sessionStart",
  "sessionEnd",
  "beforeMCPExecution",
  "afterMCPExecution",
  "SessionStart",
  "SessionEnd",
]);

function whyNot({ type = "command", event }: HookDefinition): string | null {
  if (type !== "command") return `hooks of type ${type} do not run on the platform; use a command`;
  return neverHere.has(event) ? `${event} hooks do not run on the platform` : null;
}

const placeOf = (server: McpServer): ServerPlace =>
  "url" in server ? { url: server.url } : { command: [server.command, ...(server.args ?? [])].join(" ") };
