// The environment of tools, derived from that of the program. Pure.
import { type EnvironmentPolicy, environmentPolicy, inherits, setVariables } from "./policy.ts";

/** Variables by name. */
export type Environment = Record<string, string>;

export interface ToolEnvironmentOptions {
  home: string;
  policy?: EnvironmentPolicy;
  /** Values that must not reach tools under any name, such as the model's API key. */
  secrets?: string[];
}

const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/** Shorter values match by chance. */
const minSecretLength = 8;

export function toolEnvironment(from: NodeJS.ProcessEnv, options: ToolEnvironmentOptions): Environment {
  const { home, policy = environmentPolicy() } = options;
  const mayPass = inherits(policy);
  const secrets = (options.secrets ?? []).filter((secret) => secret.length >= minSecretLength);
  const passed: Environment = {};
  for (const [name, value] of Object.entries(from)) {
    if (value === undefined || !mayPass(name, value)) continue;
    if (!secrets.some((secret) => value.includes(secret))) passed[name] = value;
  }
  return { ...passed, HOME: passed.HOME || home, PATH: passed.PATH || defaultPath, ...setVariables(policy) };
}

/** Inside a sandbox temporary files go to /tmp, and the user's runtime directory does not exist. */
export function sandboxedEnvironment(env: Environment): Environment {
  const { XDG_RUNTIME_DIR: _, TMP: __, TEMP: ___, ...rest } = env;
  return { ...rest, TMPDIR: "/tmp" };
}
