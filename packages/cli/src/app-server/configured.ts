// What is configured in a directory, as the flags of the server leave it.
import { type LoadedConfig, loadConfig } from "@agentcli/project";
import { configRequest, existingDirectory } from "../config-request.ts";
import { type ConfigOptions, configOptions } from "../run-options.ts";
import type { Host } from "./method.ts";

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
