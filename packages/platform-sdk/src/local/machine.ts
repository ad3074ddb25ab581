// This machine as the local runtime needs it: places, programs, and what commands find in their environment.
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { openProbeCache, type ProbeCache } from "@agentcli/host";
import { type HostPrograms, openHostPrograms } from "@agentcli/workspace";
import type { Runtime } from "../runtime.ts";

export interface Machine {
  variables: Runtime["variables"];
  clock: Runtime["clock"];
  newId: Runtime["newId"];
  /** Where this process is. */
  cwd(): string;
  userHome: string;
  /** Hooks, rules, skills, sub-agents and MCP servers of the user. */
  settingsHome: string;
  /** Where agents are kept. */
  sdkHome: string;
  /** What an administrator has decided. */
  systemDirectory: string;
  /** A shell whose language commands are written in. */
  shell: string;
  /** The built server that a sandbox runs. */
  serverProgram: string;
  /** Programs for the host, found on PATH. */
  programs: HostPrograms;
  /** Which sandbox works here, by the directories it was tried for. */
  probes: ProbeCache;
}

export function machineOf({ variables, clock, newId }: Runtime): Machine {
  const userHome = variables.HOME || homedir();
  const settingsHome = join(userHome, ".platform");
  return {
    ...{ variables, clock, newId, userHome, settingsHome },
    cwd: () => process.cwd(),
    sdkHome: resolve(variables.PLATFORM_SDK_HOME || join(settingsHome, "sdk")),
    systemDirectory: "/etc/platform",
    shell: usableShell(variables.SHELL),
    serverProgram: firstOf(["../workspace-server.cjs", "../../dist/workspace-server.cjs"]),
    programs: openHostPrograms({ path: variables.PATH, home: userHome, untrusted: [] }),
    probes: openProbeCache(),
  };
}

/** fish and others would misread commands. */
function usableShell(shell: string | undefined): string {
  return shell && /^\/(.*\/)?(bash|zsh|sh)$/.test(shell) && existsSync(shell) ? shell : systemShell();
}

const systemShell = (): string => (existsSync("/bin/bash") ? "/bin/bash" : "/bin/sh");

/** For hooks, which run outside the sandbox: not a shell that an agent may have written. */
export const hostShell = ({ shell, programs }: Machine): string => (programs.isTrusted(shell) ? shell : systemShell());

/** Beside the bundle, or where the build puts it when this runs from its sources. */
function firstOf(candidates: string[]): string {
  const paths = candidates.map((candidate) => fileURLToPath(new URL(candidate, import.meta.url)));
  return paths.find((path) => existsSync(path)) ?? paths.join(" or ");
}
