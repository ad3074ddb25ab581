// The sub-agents a run may start: their roles, limits and dependencies.
import {
  agentTools,
  type Dependencies,
  drive,
  openSubagents,
  type Scrub,
  type SessionStore,
  type SubagentObserver,
  type SubagentSupervisor,
  type Tool,
} from "@agentcli/engine";
import { type AgentRole, describeProblem, readAgentRoles } from "@agentcli/project";
import type { TurnSettings } from "@agentcli/protocol";
import type { OtherModels } from "./other-models.ts";
import type { Sandboxes } from "./sandboxes.ts";

export interface SubagentSettings {
  roles: AgentRole[];
  /** Open at the same time, at all levels together. */
  maxOpen: number;
  /** With 1, only the main thread starts sub-agents. */
  maxDepth: number;
  defaultModel?: string | undefined;
  defaultEffort?: string | undefined;
  /** `hidden`: progress of sub-agents is not reported as progress of the run. */
  progress: "shown" | "hidden";
}

export const defaultMaxOpen = 6;

export interface AssembledSubagents {
  supervisor: SubagentSupervisor | undefined;
  tools: Tool[];
}

export interface SubagentRequest {
  subagents: SubagentSettings | null;
  /** Of the main thread. */
  settings: TurnSettings;
  models?: OtherModels | undefined;
  store: SessionStore;
  scrub: Scrub;
  newId(): string;
  program: { name: string; version: string };
  callbacks: { watch?: ((childId: string) => SubagentObserver) | undefined };
  /** A sub-agent has come to rest. */
  onAgentIdle(): Promise<void>;
}

/** `current` returns the dependencies of the main thread when a sub-agent starts. */
export function assembleSubagents(
  request: SubagentRequest,
  sandboxes: Sandboxes,
  current: () => Dependencies,
): AssembledSubagents {
  const { subagents, settings, models, store, scrub, newId, program, callbacks } = request;
  if (!subagents) return { supervisor: undefined, tools: [] };
  const { roles, maxOpen, maxDepth, defaultModel, defaultEffort, progress } = subagents;
  const dependenciesFor = async (child: TurnSettings): Promise<Dependencies | null> => {
    const { sandbox, provider } = child;
    const isElsewhere = models !== undefined && provider !== settings.provider;
    if (progress === "shown" && sandbox === settings.sandbox && !isElsewhere) return null;
    const dependencies = { ...current(), workspace: await sandboxes.forMode(sandbox) };
    if (isElsewhere) dependencies.model = await models.open(child);
    return progress === "shown" ? dependencies : { ...dependencies, onProgress() {} };
  };
  const driveAgent: typeof drive = async (...turn) => {
    try {
      return await drive(...turn);
    } finally {
      await request.onAgentIdle();
    }
  };
  const supervisor = openSubagents({
    ...{ store, scrub, roles, maxOpen, maxDepth, defaultModel, defaultEffort, newId, program, dependenciesFor },
    drive: driveAgent,
    ...(models && { locateModel: models.locate, compactAtOf: models.compactAt }),
    ...(callbacks.watch && { watch: callbacks.watch }),
  });
  return { supervisor, tools: agentTools(roles) };
}

export type RoleSource = Parameters<typeof readAgentRoles>[0];

export interface Roles {
  roles: AgentRole[];
  warnings: string[];
}

/** Roles from files and from the request. For the same name, members of the request win. */
export async function readRoles(sources: RoleSource[], requested: AgentRole[] = []): Promise<Roles> {
  const read = await Promise.all(sources.map(readAgentRoles));
  const roles = new Map(read.flatMap((source) => source.roles).map((role) => [role.name, withSandbox(role)]));
  for (const role of requested) roles.set(role.name, { ...roles.get(role.name), ...role });
  return {
    roles: [...roles.values()],
    warnings: read.flatMap(({ problems }) => problems.map(describeProblem)),
  };
}

const withSandbox = (role: AgentRole): AgentRole => (role.readonly ? { ...role, sandbox: "read-only" } : role);

export interface RequestedRole {
  name: string;
  description: string;
  prompt: string;
  model?: string | { id: string } | undefined;
  effort?: string | undefined;
}

/** A role that came with the request instead of a file. */
export const requestedRole = ({ name, description, prompt, model, effort }: RequestedRole): AgentRole => ({
  name,
  description,
  instructions: prompt,
  model: (typeof model === "string" ? model : model?.id) ?? "inherit",
  ...(effort && { effort }),
  readonly: false,
  source: "request",
});
