// The environment tools get, made from the one the CLI was started with. Pure.
import type { Environment } from "../server/login-environment.ts";
import { type EnvironmentPolicy, environmentPolicy, inherits, setVariables } from "./environment-policy.ts";

export interface ToolEnvironmentOptions {
  home: string;
  policy?: EnvironmentPolicy;
  /** Values that must not reach tools under any name, such as the key of the model. */
  secrets?: string[];
}

const usualPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/** Shorter values occur by chance. */
const shortestSecret = 8;

export function toolEnvironment(from: NodeJS.ProcessEnv, options: ToolEnvironmentOptions): Environment {
  const { home, policy = environmentPolicy() } = options;
  const mayPass = inherits(policy);
  const secrets = (options.secrets ?? []).filter((secret) => secret.length >= shortestSecret);
  const kept: Environment = {};
  for (const [name, value] of Object.entries(from)) {
    if (value === undefined || !mayPass(name)) continue;
    if (!secrets.some((secret) => value.includes(secret))) kept[name] = value;
  }
  return { ...kept, HOME: kept.HOME || home, PATH: kept.PATH || usualPath, ...setVariables(policy) };
}

/** Inside a sandbox /tmp is the place for temporary files, and the user's run-time directory is not there. */
export function sandboxedEnvironment(env: Environment): Environment {
  const { XDG_RUNTIME_DIR: _, TMP: __, TEMP: ___, ...rest } = env;
  return { ...rest, TMPDIR: "/tmp" };
}
