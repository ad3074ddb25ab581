// [shell_environment_policy] and the provider's credentials, in the form the workspace expects.

import type { Environment } from "@agentcli/host";
import type { Config } from "@agentcli/protocol";
import { type EnvironmentPolicy, environmentPolicy } from "@agentcli/workspace";
import { credentialVariables } from "../credentials/variables.ts";

export interface ShellEnvironment {
  policy: EnvironmentPolicy;
  /** Values of the credentials in use: they do not reach commands under another name either. */
  secrets: string[];
}

export function shellEnvironment(config: Config, { variables }: Environment): ShellEnvironment {
  const chosen = config.shell_environment_policy ?? {};
  const policy = environmentPolicy({
    inherit: chosen.inherit ?? "all",
    secretNames: chosen.ignore_default_excludes ? "inherited" : "excluded",
    exclude: chosen.exclude ?? [],
    includeOnly: chosen.include_only ?? [],
    include: chosen.include ?? [],
    set: chosen.set ?? {},
    never: credentialVariables(config),
  });
  return { policy, secrets: policy.never.flatMap((name) => variables[name] || []) };
}
