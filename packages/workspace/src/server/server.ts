// The operations of a workspace, served where this process runs.
import { randomUUID } from "node:crypto";
import { realpathSync } from "node:fs";
import type { Workspace } from "@agentcli/protocol";
import { type EnvironmentPolicy, environmentPolicy, inherits } from "../sandbox/environment-policy.ts";
import type { Environment } from "./login-environment.ts";
import type { Place } from "./place.ts";
import { openProcesses } from "./processes.ts";
import { readStatus } from "./status.ts";
import { openWatchdog } from "./watchdog.ts";

export interface ServerConfig {
  root: string;
  writable: Place["writable"];
  /** The environment of every process, already without what tools must not see. */
  env: Environment;
  /** Names this server; random when absent. */
  incarnation?: string;
  /** The environment of this login shell is captured at once, so that the first command need not wait for it. */
  warmLoginShell?: string;
  /** Decides what is taken over from a login shell; `env` has been made by the same rules. */
  environmentPolicy?: EnvironmentPolicy;
  /** Where the terminal library is, when the server cannot find it by name. */
  terminalModule?: string;
  /** A bridge to the host's proxy is there to be opened. */
  egress?: "bridge";
  /** Who ends the processes when the server is killed: the kernel with their pid namespace, or a watchdog of ours. */
  orphans: "ended-by-namespace" | "ended-by-watchdog";
}

export interface WorkspaceServer extends Workspace {
  /** Processes block instead of writing on, until output may flow again. */
  holdOutput(): void;
  resumeOutput(): void;
  /** Ends everything that was started here. */
  close(): Promise<void>;
}

export function openServer(config: ServerConfig): WorkspaceServer {
  const root = realpathSync(config.root);
  const place: Place = { root, writable: config.writable };
  const incarnation = config.incarnation ?? randomUUID();
  const processes = openProcesses({
    ...config,
    root,
    incarnation,
    isDenied: deniedToLoginShells(config.environmentPolicy ?? environmentPolicy()),
    watchdog: config.orphans === "ended-by-watchdog" ? openWatchdog(incarnation) : undefined,
  });
  return {
    root,
    incarnation,
    exec: processes.exec,
    read: async (request) => (await import("./files/index.ts")).readFiles(place, request),
    list: async (request) => (await import("./files/index.ts")).listDirectory(place, request),
    search: async (request) => (await import("./files/index.ts")).searchFiles(place, request),
    edit: async (request) => (await import("./edit/index.ts")).applyEdits(place, request),
    status: async () => readStatus({ root, incarnation, env: config.env }, processes.list()),
    release: processes.release,
    holdOutput: processes.holdOutput,
    resumeOutput: processes.resumeOutput,
    close: processes.close,
  };
}

/** A profile cannot bring back what the policy leaves out, nor change what was set on purpose. */
function deniedToLoginShells(policy: EnvironmentPolicy): (name: string) => boolean {
  const mayPass = inherits(policy);
  return (name) => name in policy.set || !mayPass(name);
}
