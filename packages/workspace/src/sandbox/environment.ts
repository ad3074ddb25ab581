// The environment tools get, made from the one the CLI was started with. Pure.
import { type DeniedVariables, denies } from "../server/denied-variables.ts";
import type { Environment } from "../server/login-environment.ts";

export interface ToolEnvironmentOptions {
  home: string;
  denied?: DeniedVariables;
  /** Set on purpose, whatever their names. */
  set?: Environment;
}

const usualPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/** The agent's own key does not reach tools, whatever pattern is configured. */
const alwaysDenied = ["AGENT_API_KEY"];

export function toolEnvironment(from: NodeJS.ProcessEnv, options: ToolEnvironmentOptions): Environment {
  const isDenied = denies(options.denied);
  const kept: Environment = {};
  for (const [name, value] of Object.entries(from)) {
    if (value !== undefined && !isDenied(name) && !alwaysDenied.includes(name)) kept[name] = value;
  }
  return { ...kept, HOME: from.HOME || options.home, PATH: from.PATH || usualPath, ...options.set };
}

/** Inside a sandbox /tmp is the place for temporary files, and the user's run-time directory is not there. */
export function sandboxedEnvironment(env: Environment): Environment {
  const { XDG_RUNTIME_DIR: _, TMP: __, TEMP: ___, ...rest } = env;
  return { ...rest, TMPDIR: "/tmp" };
}
