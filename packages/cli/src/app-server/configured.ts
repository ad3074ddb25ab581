// What is configured in a directory, as the flags of the server leave it; trouble a person can mend refuses the request.
import { type LoadedConfig, loadConfig } from "@agentcli/project";
import { configRequest, existingDirectory } from "../config-request.ts";
import { type ConfigOptions, configOptions } from "../run-options.ts";
import { type Host, invalidRequest } from "./method.ts";

export interface Configured {
  /** Absolute, without symbolic links. */
  cwd: string;
  options: ConfigOptions;
  loaded: LoadedConfig;
}

/** Where the server itself works, when no directory is named. */
export async function configuredIn(directory: string | null | undefined, host: Host): Promise<Configured> {
  const { environment } = host.program;
  const options = configOptions(host.invocation);
  const cwd = existingDirectory(directory ?? options.directory ?? ".", environment.cwd);
  return { cwd, options, loaded: await loadConfig(configRequest(options, cwd, environment)) };
}

/** By name: the classes live in packages that need not be loaded to be recognised. */
const mendable = ["Problem", "ConfigProblem", "SandboxUnavailable", "WorkspaceLost"];

export async function refusing<Result>(act: () => Promise<Result>): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof Error && mendable.includes(error.name)) throw invalidRequest(error.message);
    throw error;
  }
}
