// A workspace: files and processes the agent may touch, in this process or inside a sandbox. Heavy parts load when used.
import type { Workspace } from "@agentcli/protocol";
import type { AgentSocket, AgentSocketOptions, AgentSocketService } from "./agent-socket/index.ts";
import type { BuildCache } from "./cache/index.ts";
import type { Connection } from "./client/index.ts";
import type { LimitsReport, ResourceLimits } from "./limits/index.ts";
import type { Link, LinkOptions, Pingable } from "./link/index.ts";

export type { AgentSocket, AgentSocketService, SocketReply, TokenRequest } from "./agent-socket/index.ts";
export type { BuildCache } from "./cache/index.ts";
export type { Connection } from "./client/index.ts";

import type { PlaceholderOptions, Placeholders, WebDial } from "./egress/index.ts";

export type {
  BoundSecret,
  Denial,
  PlaceholderOptions,
  Placeholders,
  SecretUse,
  Traffic,
  WebDial,
} from "./egress/index.ts";
export {
  type EnvironmentPolicy,
  environmentPolicy,
  type ToolEnvironmentOptions,
  toolEnvironment,
} from "./environment/index.ts";
export { findCommonDirectory, findGitDirectory, findRepositoryRoot, type GitHead, readHead } from "./git/index.ts";
export {
  type LazyWorkspace,
  type LazyWorkspaceOptions,
  lazyWorkspace,
  type OpenedWorkspace,
} from "./lifecycle/index.ts";
export type { LimitsReport, ResourceLimits, TemporaryShares } from "./limits/index.ts";
export type { Answer, Link, LinkRequest } from "./link/index.ts";
export { identityOf, isRunning, ownIdentity, type ProcessIdentity } from "./process-identity.ts";
export {
  belongsToOther,
  findProgram,
  type HostPrograms,
  hostDirectory,
  keepLooks,
  mountPoints,
  onlyUserCanChange,
  openHostPrograms,
  othersCanReplace,
  othersCanWrite,
  ProgramNotFound,
  type ProgramSearch,
  readMounts,
  readMountTable,
  trustedPath,
} from "./programs/index.ts";
export {
  type BackEnd,
  type ConnectionEnds,
  describeKnownGap,
  describeSandbox,
  giveFiles,
  hiddenByDefault,
  hiddenByVariables,
  identifyFilePeer,
  identifyPeer,
  insidePath,
  knownGapsOf,
  loadMachineParts,
  type MachineDisk,
  type MachineParts,
  openWorkspace,
  type Peer,
  type Placement,
  type PolicyOptions,
  type ProbeOptions,
  probeAllBackEnds,
  probeOtherUser,
  probeSandbox,
  protectedNames,
  proxyUnavailable,
  readSystemPaths,
  type SandboxPolicy,
  type SandboxProbe,
  sandboxPolicy,
  searchUnfinished,
  supportsProxy,
  type UnavailableBackEnd,
  type WorkspaceOptions,
} from "./sandbox/index.ts";
export { type AttemptResult, runSelftest, type SelftestOptions } from "./selftest/index.ts";
export {
  type HostProcesses,
  openHostProcesses,
  openServer,
  type ServerConfig,
  serveWorkspace,
  type WorkspaceServer,
} from "./server/index.ts";

/** Serves the commands of one agent identity tokens and metadata, over `api.sock` of a directory. */
export const openAgentSocket = async (service: AgentSocketService, options: AgentSocketOptions): Promise<AgentSocket> =>
  (await import("./agent-socket/index.ts")).openAgentSocket(service, options);

/** The build caches in this directory, largest first. */
export const listCaches = async (base: string): Promise<BuildCache[]> =>
  (await import("./cache/index.ts")).listCaches(base);

/** Removes the build cache of one project, or all of them; returns what was removed. */
export const clearCaches = async (base: string, project?: string): Promise<BuildCache[]> =>
  (await import("./cache/index.ts")).clearCaches(base, project);

/** Which of these limits are really enforced here, found out by trying. */
export const describeLimits = async (limits: ResourceLimits): Promise<LimitsReport> =>
  (await import("./limits/index.ts")).describeLimits(limits);

/** Connects the host itself to the public web, by the same rules as commands in a sandbox. */
export const openWebDial = async (allowed: string[], denied: string[]): Promise<WebDial> =>
  (await import("./egress/index.ts")).openWebDial(allowed, denied);

/** For the programs of one machine. Throws InvalidDomainRule for a host that a secret cannot be bound to. */
export const openPlaceholders = async (options: PlaceholderOptions): Promise<Placeholders> =>
  (await import("./egress/index.ts")).openPlaceholders(options);

/** A text of the same shape, for programs to send in place of the value; null: none can be made for it. */
export const placeholderFor = async (value: string): Promise<string | null> =>
  (await import("./egress/index.ts")).placeholderFor(value);

/** Throws InvalidDomainRule for a host that a secret cannot be bound to. */
export const checkBinding = async (host: string): Promise<void> =>
  (await import("./egress/index.ts")).checkBinding(host);

/** Throws InvalidDomainRule for an entry that is not a domain or an address. */
export const checkDomains = async (domains: string[]): Promise<void> =>
  void (await (await import("./egress/index.ts")).readRules(domains, []));

export const connectWorkspace = async (connection: Connection): Promise<Workspace> =>
  (await import("./client/index.ts")).connectWorkspace(connection);

/** Requests between a platform and a worker. */
export const openLink = async (options: LinkOptions): Promise<Link> =>
  (await import("./link/index.ts")).openLink(options);

/** Ends a WebSocket that is half open. The result chooses another limit. */
export const endAfterSilence = async (
  socket: Pingable,
  maxSilenceMs?: number,
  onSilence?: () => void,
): Promise<(maxSilenceMs: number) => void> =>
  (await import("./link/index.ts")).endAfterSilence(socket, maxSilenceMs, onSilence);

/** What keeps the files of an agent the same in two places. */
export type FileSync = typeof import("./sync/index.ts");

export const loadFileSync = async (): Promise<FileSync> => import("./sync/index.ts");
