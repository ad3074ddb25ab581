// Assembles a run of a service: no user at a terminal, the date in UTC, sub-agents two levels deep.
import type { ModelProgress } from "@agentcli/engine";
import { practice, priceBook } from "@agentcli/models";
import type { AgentRole, ProjectContext } from "@agentcli/project";
import { type Assembly, type AssemblyRequest, assemble } from "./assemble.ts";
import { utcToday } from "./date.ts";
import { joinServers } from "./join-servers.ts";
import { modelObserver } from "./observers.ts";
import { defaultMaxOpen, type RoleSource, readRoles } from "./sub-agents.ts";

type ChosenHere = "price" | "subAgents" | "limits" | "today" | "observers" | "warnings" | "instructions";

export interface ServiceRequest extends Omit<AssemblyRequest, ChosenHere> {
  instructions: Omit<ProjectContext, "sources">;
  /** Sources of sub-agent roles; roles of the request have precedence. */
  roles: { sources: RoleSource[]; requested: AgentRole[] };
  prices?: Parameters<typeof priceBook>[0];
  toolLimitMs: number | null;
  onProgress(progress: ModelProgress): void;
}

export interface ServiceAssembly extends Assembly {
  instructions: ServiceRequest["instructions"];
}

const maxDepth = 2;
const outputTokens = 10_000;

/** Settles when MCP servers have started, or on abort. */
export async function assembleService(request: ServiceRequest, signal: AbortSignal): Promise<ServiceAssembly> {
  const { roles: declared, prices, toolLimitMs, onProgress, ...chosen } = request;
  const { roles, warnings } = await readRoles(declared.sources, declared.requested);
  const assembly = await assemble({
    ...chosen,
    price: priceBook({ [practice]: { input: 0, output: 0 }, ...prices }),
    // Clients follow the main thread only.
    subAgents: { roles, maxOpen: defaultMaxOpen, maxDepth, progress: "hidden" },
    limits: { toolMs: toolLimitMs, outputTokens },
    today: utcToday(),
    observers: modelObserver(onProgress),
    warnings,
  });
  await joinServers(assembly, signal);
  return Object.assign(assembly, { instructions: request.instructions });
}
