// What a run needs from the server that executes it.
import type { Tool } from "@agentcli/engine";
import type { CloudRoles } from "../../cloud-roles/index.ts";
import type { RunEnvironments } from "../../environments/index.ts";
import type { Workers } from "../../fleet/index.ts";
import type { AgentSettings, NetworkPolicy, PlatformContext } from "../../foundation/index.ts";
import type { ServeIdentity } from "../../identity-tokens/index.ts";
import type { AgentMachines } from "../../machines/index.ts";
import type { Handoff, Workspaces } from "../../repositories/index.ts";
import type { Secrets } from "../../secrets/index.ts";
import type { RunMessages } from "../messages/index.ts";
import type { Hub } from "../streams/index.ts";
import type { Artifacts } from "./artifacts.ts";
import type { EndOfRunStatements } from "./finish.ts";
import type { MachinesInUse } from "./machines-in-use.ts";
import type { Sandboxes } from "./sandbox/index.ts";

export interface RunHost {
  platform: PlatformContext;
  hub: Hub;
  messages: RunMessages;
  workspaces: Workspaces;
  handoff: Handoff;
  /** Throws RepositoryFault if the requester of the run no longer has access to a repository. */
  checkRepositories(userId: number | null, urls: string[], signal: AbortSignal): Promise<void>;
  mintToken(teamId: number, url: string, signal: AbortSignal): Promise<string | undefined>;
  /** How a machine of a customer can clone the repository. Null: only this platform has it. Throws RepositoryFault. */
  cloneAccess(teamId: number, url: string, signal: AbortSignal): Promise<CloneAccess | null>;
  sandboxes: Sandboxes;
  machines: AgentMachines;
  environments: RunEnvironments;
  machinesInUse: MachinesInUse;
  /** Where this server keeps the files of agents, so that other servers can ask it for them. */
  diskLocation: { dataId: string; nodeName: string };
  secrets: Pick<Secrets, "ofAgent">;
  /** What the socket in the machine of an agent answers. */
  serveIdentity: ServeIdentity;
  cloudRoles: CloudRoles;
  workers: Workers;
  network: NetworkPolicy;
  publicUrl(): string;
  artifacts: Artifacts;
  endOfRunStatements: EndOfRunStatements;
  /** The tools that the platform adds to those of the engine. */
  toolsOf(run: RunOfAgent): Promise<Tool[]>;
  /** In place of the hand-off, for an agent that only proposes. Safe to call again. */
  proposeChanges(run: ProposingRun, signal: AbortSignal): Promise<void>;
}

export interface CloneAccess {
  url: string;
  /** It reads this repository alone. Undefined: the host makes none, so that only a public one can be cloned. */
  token: string | undefined;
}

export interface ProposingRun extends Pick<RunOfAgent, "agentId" | "teamId" | "scrub"> {
  runId: string;
  autoCreatePR: boolean;
}

/** The run, as far as the choice of its tools depends on it. */
export interface RunOfAgent {
  agentId: string;
  teamId: number;
  /** Which client created the agent. */
  source: string;
  repositories: { url: string }[];
  mode: "agent" | "plan";
  effects: AgentSettings["effects"];
  /** MCP servers that are not connected, because the run only proposes. */
  proposedServers: string[];
  /** Removes secrets from what leaves the run. */
  scrub(text: string): string;
}

/** RunHost for one claim of a run. */
export interface DriverHost extends RunHost {
  /** Gives the claim back, so that another process, or this one later, resumes the run; later writes of this claim are rejected. */
  yieldRun(): Promise<void>;
}
