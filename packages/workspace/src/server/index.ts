// The workspace operations, served where this process runs. Loaded when used.
import type { Readable, Writable } from "node:stream";
import type { ChildSpec } from "./processes/child.ts";
import type { HostProcesses } from "./processes/host-processes.ts";
import type { ServerConfig, WorkspaceServer } from "./server.ts";

export { type ExpectedMount, misplacedMount } from "./mounts.ts";
export type { HostProcesses } from "./processes/host-processes.ts";
export type { ServerConfig, WorkspaceServer } from "./server.ts";

export const openServer = async (config: ServerConfig): Promise<WorkspaceServer> =>
  (await import("./server.ts")).openServer(config);

export const serveWorkspace = async (
  workspace: WorkspaceServer,
  readable: Readable,
  writable: Writable,
): Promise<void> => (await import("./stream.ts")).serveWorkspace(workspace, readable, writable);

/** For processes that a host starts itself, outside of any workspace. */
export const openHostProcesses = async (incarnation: string): Promise<HostProcesses> =>
  (await import("./processes/host-processes.ts")).openHostProcesses(incarnation);

/** Why a program cannot be started, as a sentence. */
export const explainStartFailure = async (spec: ChildSpec): Promise<string | undefined> =>
  (await import("./processes/child.ts")).explainStartFailure(spec);
