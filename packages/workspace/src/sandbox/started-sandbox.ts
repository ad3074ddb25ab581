// What a back end returns once the sandbox has started: the process inside, and the configuration of its server.

import type { Duplex } from "node:stream";
import type { SandboxUnavailable } from "@agentcli/protocol/workspace-errors";
import type { Environment } from "../environment/index.ts";
import type { OpenedLimits } from "../limits/index.ts";
import type { ServerConfig } from "../server/index.ts";
import type { Shadow } from "./commits/shadow.ts";
import type { ConfinedProcess } from "./confined-process.ts";
import type { MachineDisk } from "./machine-disk.ts";
import type { SandboxPolicy } from "./policy.ts";
import { architectureOf } from "./seccomp/architecture.ts";
import { type FilterOptions, seccompProgram } from "./seccomp/filter.ts";

export interface StartedSandbox {
  process: ConfinedProcess;
  config: Pick<ServerConfig, "env" | "writable" | "orphans" | "terminalModule" | "mounts">;
  /** Repositories that commands see a writable copy of. */
  shadows?: Shadow[];
  /** Ends everything started inside, and removes what was created outside for the sandbox. */
  close(): Promise<void>;
  /** Undefined if the output is not about the sandbox itself. */
  explainFailure(stderr: string): SandboxUnavailable | undefined;
}

export interface ServerProgram {
  /** The built server: one file that Node can run. */
  serverProgram: string;
  nodePath: string;
  env: Environment;
  /** Wraps a command so that it starts within the limits. */
  enter: OpenedLimits["enter"];
  /** The size of private directories such as /tmp; null: half of the memory. */
  temporaryBytes: number | null;
  /** The root directory of the sandbox is the disk of a machine; only bubblewrap supports one. */
  disk?: MachineDisk | undefined;
  /** Receives the host's end of the bridge; only bubblewrap supports one. */
  onBridge?: ((stream: Duplex) => void) | undefined;
  /** On which the bridge listens in the place of hosts, in machines that can be prepared for it. */
  bridgePorts?: number[] | undefined;
}

/** Undefined on unsupported architectures. */
export function filterOf(
  policy: SandboxPolicy,
  { internetSockets, ipc }: Required<Pick<FilterOptions, "internetSockets" | "ipc">>,
): Buffer | undefined {
  const { unixSockets, nestedSandboxes } = policy;
  const architecture = architectureOf(process.arch);
  return architecture && seccompProgram({ architecture, unixSockets, internetSockets, nestedSandboxes, ipc });
}

/** With the directory for temporary files. */
export const writableOf = ({ mode, root, writableRoots }: SandboxPolicy, temporary: string): string[] =>
  mode === "workspace-write" ? [root, ...writableRoots, temporary] : [temporary];
