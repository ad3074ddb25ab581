// The operations of a workspace, served where this process runs.

import { realpathSync } from "node:fs";
import type { Workspace } from "@agentcli/protocol";
import { type Environment, type EnvironmentPolicy, environmentPolicy, inherits } from "../environment/index.ts";
import type { GitDirectories } from "../fingerprint.ts";
import type { FileScope } from "./file-scope.ts";
import type { ExpectedMount } from "./mounts.ts";
import { openProcesses } from "./processes/processes.ts";
import { openWatchdog } from "./processes/watchdog.ts";
import { openRepositoryStates, readStatus } from "./status.ts";

export interface ServerConfig {
  root: string;
  writable: FileScope["writable"];
  /** The environment of every process, already filtered for tools. */
  env: Environment;
  /** Names this server; random when absent. */
  incarnation?: string;
  /** The environment of this login shell is captured at once, so that the first command need not wait for it. */
  warmLoginShell?: string;
  /** False: requests for the environment of a login shell get the plain one. */
  allowLoginShell?: boolean;
  /** Decides what is inherited from a login shell; `env` follows the same rules. */
  environmentPolicy?: EnvironmentPolicy;
  /** Where the terminal library is, when the server cannot find it by name. */
  terminalModule?: string;
  /** A bridge to the host's proxy is there to be opened. */
  egress?: "bridge";
  /** Repositories that commands see a writable copy of; the status tells whether they have changed. */
  shadows?: GitDirectories[];
  /** Mounts of the sandbox that must be as they were planned, or nothing is served. */
  mounts?: ExpectedMount[];
  /** Who ends the processes when the server is killed: the kernel with their pid namespace, or a watchdog of ours. */
  orphans: "ended-by-namespace" | "ended-by-watchdog";
}

export interface WorkspaceServer extends Workspace {
  /** Pauses output: processes block on writes until it resumes. */
  holdOutput(): void;
  resumeOutput(): void;
  /** Ends everything that was started here. */
  close(): Promise<void>;
}

export function openServer(config: ServerConfig): WorkspaceServer {
  const root = realpathSync(config.root);
  const scope: FileScope = { root, writable: config.writable };
  const incarnation = config.incarnation ?? randomName();
  const readStates = openRepositoryStates(config.shadows ?? []);
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
    async exec(request, onChunk, signal) {
      const result = await processes.exec(request, onChunk, signal);
      // With the result: to ask for them would take another round trip for each command.
      return result.state === "exited" || result.state === "running" ? { ...result, ...readStates() } : result;
    },
    read: async (request) => (await import("./files/index.ts")).readFiles(scope, request),
    list: async (request) => (await import("./files/index.ts")).listDirectory(scope, request),
    search: async (request) => (await import("./files/index.ts")).searchFiles(scope, request),
    edit: async (request) => (await import("./edit/index.ts")).applyEdits(scope, request),
    status: async () =>
      readStatus({ root, incarnation, env: config.env }, { processes: processes.list(), ...readStates() }),
    release: processes.release,
    holdOutput: processes.holdOutput,
    resumeOutput: processes.resumeOutput,
    close: processes.close,
  };
}

/** Unlike those of other servers on this machine. */
const randomName = () => `${process.pid}-${Date.now()}-${Math.random().toString(36).slice(2)}`;

/** A profile cannot set what the policy excludes, nor change what is set explicitly. */
function deniedToLoginShells(policy: EnvironmentPolicy): (name: string, value: string) => boolean {
  const mayPass = inherits(policy);
  return (name, value) => name in policy.set || !mayPass(name, value);
}
