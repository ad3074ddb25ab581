// Where the platform is and which key opens it.
import { CommandError } from "@agentcli/command-line";
import { loadConfig } from "@agentcli/project";
import type { Invocation } from "../command.ts";
import { configRequest } from "../config/request.ts";
import { configOptions } from "../config/run-options.ts";
import type { Program } from "../program.ts";
import { findLocalPlatform } from "./local-platform.ts";

export interface Access {
  /** Without a slash at the end. */
  url: string;
  key: string;
  /** Where agents work unless a repository is named; absent: the repository around the directory. */
  repository?: string;
}

export async function readAccess(invocation: Invocation, { environment }: Program): Promise<Access> {
  const { variables, cwd } = environment;
  // --limit is how many agents to list here, and --model one of the platform's: neither is about runs on this machine.
  const options = { ...configOptions(invocation), limits: [], model: undefined };
  const { config } = await loadConfig(configRequest(options, cwd, environment));
  const url = variables.PLATFORM_BACKEND_URL || config.platform?.url;
  const keyName = config.platform?.env_key ?? "PLATFORM_API_KEY";
  const key = variables[keyName];
  const local = url || key ? null : findLocalPlatform(variables);
  if (local) return { ...local, url: checkedUrl(local.url) };
  if (!url)
    throw new CommandError(
      "usage",
      "No platform configured. Set PLATFORM_BACKEND_URL, for example to http://127.0.0.1:7420, or url under [platform] in config.toml.",
    );
  if (!key)
    throw new CommandError(
      "auth",
      `No API key for the platform. Set ${keyName}; create one with: platform keys create.`,
    );
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new CommandError(
      "auth",
      `${keyName} is not a valid key: it contains spaces or characters that keys do not have. Set it again.`,
    );
  return { url: checkedUrl(url), key };
}

function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url && /^https?:$/.test(url.protocol)) return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
  throw new CommandError("usage", `Invalid platform address "${text}": expected an http or https URL.`);
}
