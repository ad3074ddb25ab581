// The paths of an agent's files: on the host in a directory of their own, inside always below /workspace. A conversation
// has only the latter, so that it is not tied to a host.
import { realpathSync } from "node:fs";
import { join } from "node:path";
import type { Placement } from "@agentcli/workspace";

export interface AgentPaths {
  /** On the host: the agent's repositories and the directories beside them. */
  directory: string;
  placement: Placement;
  /** A path of the host, or a text with such paths, as commands see it. */
  toSandboxPath(text: string): string;
  /** The other way round. */
  toHostPath(text: string): string;
}

/** The directory of every agent, as its commands see it. */
export const workspacePath = "/workspace";

/** The directory exists. */
export function agentPaths(dataDirectory: string, directoryName: string): AgentPaths {
  const directory = join(dataDirectory, "workspaces", directoryName);
  const placement = { directory: realpathSync(directory), path: workspacePath };
  return {
    directory,
    placement,
    // Its name is unique: it cannot be the beginning of another one.
    toSandboxPath: (text) => text.replaceAll(directory, workspacePath).replaceAll(placement.directory, workspacePath),
    toHostPath: (text) => text.replace(/(?<![\w./-])\/workspace(?=\/|$)/g, () => directory),
  };
}
