// What a back end hands back once its walls stand: the process inside, and what the server in it must know of them.
import type { Duplex } from "node:stream";
import type { OpenedLimits } from "../limits/limits.ts";
import type { Environment } from "../server/login-environment.ts";
import type { ServerConfig } from "../server/server.ts";
import type { ConfinedProcess } from "./confined-process.ts";
import type { SandboxPolicy } from "./policy.ts";
import type { SandboxUnavailable } from "./sandbox-unavailable.ts";
import { architectureOf, seccompProgram } from "./seccomp.ts";

export interface Enclosure {
  process: ConfinedProcess;
  config: Pick<ServerConfig, "env" | "writable" | "orphans" | "terminalModule">;
  /** Nothing that was started inside is left afterwards, nor anything made for the sandbox outside. */
  close(): Promise<void>;
  /** Undefined when what was said on standard error is not about the walls. */
  explain(said: string): SandboxUnavailable | undefined;
}

export interface ServerProgram {
  /** The built server: one file that Node can run. */
  serverProgram: string;
  nodePath: string;
  env: Environment;
  /** How a program is started within the limits of the sandbox. */
  enter: OpenedLimits["enter"];
  /** Takes the host's end of a stream to the server; only bubblewrap can lead one in. */
  onBridge?: ((stream: Duplex) => void) | undefined;
}

/** Undefined on processors whose call numbers we do not have. */
export function filterOf(policy: SandboxPolicy, internetSockets: "allowed" | "refused"): Buffer | undefined {
  const { unixSockets, nestedSandboxes } = policy;
  const architecture = architectureOf(process.arch);
  return architecture && seccompProgram({ architecture, unixSockets, internetSockets, nestedSandboxes });
}

/** Beside the place for temporary files. */
export const writableOf = ({ mode, root, writableRoots }: SandboxPolicy, temporary: string): string[] =>
  mode === "workspace-write" ? [root, ...writableRoots, temporary] : [temporary];
