// A workspace: files and processes the agent may touch, in this process or inside a sandbox. Heavy parts load when used.
import type { Readable, Writable } from "node:stream";
import type { Workspace } from "@agentcli/protocol";
import type { Connection } from "./client/client.ts";
import type { OpenedWorkspace } from "./client/lazy.ts";
import type { LimitsReport, ResourceLimits } from "./limits/limits.ts";
import type { BackEnd } from "./sandbox/back-end.ts";
import type { WorkspaceOptions } from "./sandbox/launch.ts";
import type { SandboxPolicy } from "./sandbox/policy.ts";
import type { SandboxProbe, Shortfall, Surroundings } from "./sandbox/probe.ts";
import type { Finding, SelftestOptions } from "./selftest/run.ts";
import type { HostProcesses } from "./server/host-processes.ts";
import type { ServerConfig, WorkspaceServer } from "./server/server.ts";

export type { Connection } from "./client/client.ts";
export { type LazyOptions, type LazyWorkspace, lazyWorkspace, type OpenedWorkspace } from "./client/lazy.ts";
export { WorkspaceLost } from "./client/workspace-lost.ts";
export type { Denial } from "./egress/reach.ts";
export { findRepositoryRoot, type Head, readHead } from "./git/repository.ts";
export type { LimitsReport, ResourceLimits } from "./limits/limits.ts";
export { admissionsOf, type BackEnd, canProxy, describeAdmission, noProxy } from "./sandbox/back-end.ts";
export { type ToolEnvironmentOptions, toolEnvironment } from "./sandbox/environment.ts";
export { type EnvironmentPolicy, environmentPolicy } from "./sandbox/environment-policy.ts";
export type { WorkspaceOptions } from "./sandbox/launch.ts";
export {
  hiddenByDefault,
  type PolicyChoice,
  protectedNames,
  type SandboxPolicy,
  sandboxPolicy,
} from "./sandbox/policy.ts";
export type { SandboxProbe, Shortfall, Surroundings } from "./sandbox/probe.ts";
export { describeSandbox } from "./sandbox/report.ts";
export { SandboxUnavailable } from "./sandbox/sandbox-unavailable.ts";
export type { Finding, SelftestOptions } from "./selftest/run.ts";
export type { HostProcesses } from "./server/host-processes.ts";
export type { ServerConfig, WorkspaceServer } from "./server/server.ts";

/** In this process for danger-full-access, else in a sandbox; throws SandboxUnavailable where that cannot be had. */
export const openWorkspace = async (policy: SandboxPolicy, options: WorkspaceOptions): Promise<OpenedWorkspace> =>
  (await import("./sandbox/launch.ts")).openWorkspace(policy, options);

export const probeSandbox = async (surroundings: Surroundings): Promise<SandboxProbe> =>
  (await import("./sandbox/probe.ts")).probeSandbox(surroundings);

/** Every back end of this system, also those below the first that works. */
export const probeEveryRung = async (surroundings: Surroundings): Promise<(BackEnd | Shortfall)[]> =>
  (await import("./sandbox/probe.ts")).probeEveryRung(surroundings);

/** Tries to break out, one way after the other. */
export async function* runSelftest(options: SelftestOptions): AsyncGenerator<Finding> {
  yield* (await import("./selftest/run.ts")).runSelftest(options);
}

/** What of these limits is really enforced here, tried out. */
export const describeLimits = async (wanted: ResourceLimits): Promise<LimitsReport> =>
  (await import("./limits/limits.ts")).describeLimits(wanted);

/** Throws BadDomainRule where one of them is nothing that could be allowed or denied. */
export const checkDomains = async (domains: string[]): Promise<void> =>
  void (await import("./egress/rules.ts")).readRules(domains, []);

/** For what a host starts itself, outside of any workspace. */
export const openHostProcesses = async (incarnation: string): Promise<HostProcesses> =>
  (await import("./server/host-processes.ts")).openHostProcesses(incarnation);

export const openServer = async (config: ServerConfig): Promise<WorkspaceServer> =>
  (await import("./server/server.ts")).openServer(config);

export const serveWorkspace = async (
  workspace: WorkspaceServer,
  readable: Readable,
  writable: Writable,
): Promise<void> => (await import("./server/stream.ts")).serveWorkspace(workspace, readable, writable);

export const connectWorkspace = async (connection: Connection): Promise<Workspace> =>
  (await import("./client/client.ts")).connectWorkspace(connection);
