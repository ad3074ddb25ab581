// What the server must be able to read inside, even if it is in /tmp, /run or a hidden directory.
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { findTerminals, type TerminalLibrary } from "../terminal-library.ts";
import type { SandboxPolicy } from "./policy.ts";

export interface Runtime {
  serverProgram: string;
  nodePath: string;
  /** PATH inside. */
  path: string;
  terminals: TerminalLibrary | undefined;
}

export function showRuntime(policy: SandboxPolicy, runtime: Runtime): SandboxPolicy {
  if (policy.view === "system") return showOnlyServer(policy, runtime);
  const programs = runtime.path.split(delimiter).filter((directory) => directory.startsWith("/"));
  // On many systems a symlink into /run.
  const resolverFiles = policy.network === "on" ? ["/etc/resolv.conf"] : [];
  const own = [runtime.nodePath, dirname(runtime.serverProgram), ...(runtime.terminals?.directories ?? [])];
  return { ...policy, shown: [...policy.shown, ...own, ...programs, ...resolverFiles] };
}

/** Not the directories around the programs: an operator may keep anything there. */
function showOnlyServer(policy: SandboxPolicy, { nodePath, serverProgram, terminals }: Runtime): SandboxPolicy {
  const chunks = join(dirname(serverProgram), "chunks");
  return { ...policy, shown: [...policy.shown, nodePath, serverProgram, chunks, ...(terminals?.directories ?? [])] };
}

/** Searched from the server program, then from here. Undefined if not installed: then there are no terminals. */
export const findTerminalLibrary = (serverProgram: string): TerminalLibrary | undefined =>
  findTerminals(serverProgram) ?? findTerminals(fileURLToPath(import.meta.url));
