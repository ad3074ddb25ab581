// The one place that reads the process environment, so that everything else can be given one.
import { homedir } from "node:os";
import { join } from "node:path";

export interface Environment {
  variables: NodeJS.ProcessEnv;
  agentHome: string;
  userHome: string;
  cwd: string;
}

export function readEnvironment(): Environment {
  const variables = process.env;
  const userHome = homedir();
  return {
    variables,
    userHome,
    agentHome: variables.AGENT_HOME || join(userHome, ".agentcli"),
    cwd: process.cwd(),
  };
}
