// The only file that reads the process environment; everything else gets it as a parameter.
import { homedir, userInfo } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import type { Environment } from "@agentcli/host";
import { openHostPrograms } from "@agentcli/workspace";

/** Its requirements hold wherever AGENT_SYSTEM_DIR points. */
export const standardSystemDirectory = "/etc/agentcli";

export function readEnvironment(): Environment {
  const variables = process.env;
  const userHome = findUserHome(variables.HOME);
  const cwd = currentDirectory(variables);
  return {
    variables,
    userHome,
    // For packagers whose system files are elsewhere.
    systemDirectory: variables.AGENT_SYSTEM_DIR || standardSystemDirectory,
    agentHome: agentHomeOf(variables),
    cwd,
    programs: openHostPrograms({ path: variables.PATH, home: userHome, untrusted: [cwd] }),
  };
}

/** Also for what has to be known before anything else of the environment. */
export const agentHomeOf = (variables: NodeJS.ProcessEnv): string =>
  resolve(currentDirectory(variables), variables.AGENT_HOME || join(findUserHome(variables.HOME), ".agentcli"));

/** Below it nothing can be created: without a home, whatever needs one says so. */
const noHome = "/dev/null";

/** An empty or relative HOME would make a home of the working directory; the system knows another. */
function findUserHome(variable: string | undefined): string {
  if (variable === undefined || isAbsolute(variable)) return homedir();
  try {
    const { homedir: recorded } = userInfo();
    return isAbsolute(recorded) ? recorded : noHome;
  } catch {
    return noHome;
  }
}

/** A removed directory keeps its name: what needs it finds it missing, the rest works. */
function currentDirectory({ PWD }: NodeJS.ProcessEnv): string {
  try {
    return process.cwd();
  } catch {
    return PWD?.startsWith("/") ? PWD : "/proc/self/cwd";
  }
}
