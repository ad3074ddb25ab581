// Assembles a run of a service: no user at a terminal, the date in UTC, sub-agents two levels deep.
import { existsSync } from "node:fs";
import type { Progress } from "@agentcli/engine";
import { practice, priceBook } from "@agentcli/models";
import { type AgentRole, durationMs, type ProjectContext } from "@agentcli/project";
import type { Config } from "@agentcli/protocol";
import { searchUnfinished } from "@agentcli/workspace";
import { type Assembly, type AssemblyRequest, assemble } from "../assemble.ts";
import { utcToday } from "../date.ts";
import type { HookSource } from "../hooks.ts";
import { joinServers } from "../join-servers.ts";
import { defaultMaxOpen, type RoleSource, readRoles } from "../sub-agents.ts";
import type { FoundHooks, ServiceHooks } from "./hooks.ts";
import type { ServiceServers } from "./servers.ts";

type ChosenHere = "costOf" | "subagents" | "limits" | "today" | "callbacks" | "warnings";
type Described = "instructions" | "hooks" | "servers";

export interface ServiceRequest extends Omit<AssemblyRequest, ChosenHere | Described> {
  instructions: ServiceInstructions;
  hooks: ServiceHooks;
  servers: ServiceServers;
  /** Sources of sub-agent roles; roles of the request have precedence. */
  roles: { sources: RoleSource[]; requested: AgentRole[] };
  prices?: Parameters<typeof priceBook>[0];
  /** As configured. */
  limits?: Config["limits"];
  /** Where runs note that their workspace is still to be searched for new repositories. */
  unfinishedRuns: string;
  onProgress(progress: Progress): void;
}

export type ServiceInstructions = Omit<ProjectContext, "sources">;

export interface ServiceAssembly extends Assembly {
  instructions: ServiceInstructions;
}

const maxDepth = 2;
const toolOutputTokens = 10_000;

/** Settles when MCP servers have started, or on abort. */
export async function assembleService(request: ServiceRequest, signal: AbortSignal): Promise<ServiceAssembly> {
  const { roles: declared, prices, limits = {}, onProgress, ...chosen } = request;
  const leftoverWarnings = await findUnreportedChanges(request.unfinishedRuns);
  const { roles, warnings } = await readRoles(declared.sources, declared.requested);
  const assembly = await assemble({
    ...chosen,
    costOf: priceBook({ [practice]: { input: 0, output: 0 }, ...prices }),
    // Clients follow the main thread only.
    subagents: { roles, maxOpen: defaultMaxOpen, maxDepth, progress: "hidden" },
    hooks: () => hookSource(request),
    servers: request.servers.list.length === 0 ? null : () => serverSource(request),
    limits: { toolTimeoutMs: durationMs(limits.tool ?? "10m"), toolOutputTokens },
    today: utcToday(),
    callbacks: { onProgress },
    warnings,
    leftoverWarnings,
  });
  await joinServers(assembly, signal);
  return Object.assign(assembly, { instructions: request.instructions });
}

/** One sentence for each repository that killed runs have created or changed. */
const findUnreportedChanges = async (unfinishedRuns: string): Promise<string[]> =>
  existsSync(unfinishedRuns) ? searchUnfinished(unfinishedRuns) : [];

async function hookSource({ hooks, servers, limits }: ServiceRequest): Promise<HookSource | null> {
  const found = await findHooks(hooks);
  if (found === null) return null;
  const { serviceHookSource } = await import("./hooks.ts");
  return serviceHookSource({ ...hooks, found }, servers.list, durationMs(limits?.hook ?? "60s"));
}

/** Null: there are none, and nothing to report about them. */
async function findHooks({ recordedHooks, read }: ServiceHooks): Promise<FoundHooks | null> {
  const found: FoundHooks = recordedHooks === null ? await read() : { definitions: recordedHooks, warnings: [] };
  const { definitions, skipped = [], warnings } = found;
  return definitions.length + skipped.length + warnings.length === 0 ? null : found;
}

async function serverSource({ servers, settings: { cwd }, limits }: ServiceRequest) {
  const { serviceServerSource } = await import("./servers.ts");
  return serviceServerSource(servers, { cwd, startLimit: limits?.["mcp-start"] });
}
