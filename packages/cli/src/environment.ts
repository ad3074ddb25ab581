// The one place that reads the process environment, so that everything else can be given one.
import { homedir } from "node:os";
import { join } from "node:path";

export interface Environment {
  variables: NodeJS.ProcessEnv;
  agentHome: string;
  userHome: string;
  /** Configuration for all users of the machine. */
  systemDirectory: string;
  cwd: string;
}

/** Its requirements hold wherever AGENT_SYSTEM_DIR points. */
export const standardSystemDirectory = "/etc/agentcli";

export function readEnvironment(): Environment {
  const variables = process.env;
  const userHome = homedir();
  return {
    variables,
    userHome,
    // For packagers whose system files are elsewhere.
    systemDirectory: variables.AGENT_SYSTEM_DIR || standardSystemDirectory,
    agentHome: variables.AGENT_HOME || join(userHome, ".agentcli"),
    cwd: process.cwd(),
  };
}
