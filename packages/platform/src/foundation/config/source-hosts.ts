// Where repositories come from, as it is written in the configuration.
import type { PlatformConfig } from "@agentcli/protocol";
import { SettingError } from "./setting-error.ts";
import type { GithubSettings, SourceHostSettings } from "./settings.ts";

export function readSourceHosts({ source_hosts: hosts = {} }: PlatformConfig): SourceHostSettings {
  return {
    blocked: (hosts.blocked ?? []).map((pattern) => checkPattern(pattern, "source_hosts.blocked")),
    protected: Object.entries(hosts.protected ?? {}).map(([pattern, teams]) => ({
      pattern: checkPattern(pattern, "source_hosts.protected"),
      teams,
    })),
    github: hosts.github === undefined ? null : readGithub(hosts.github),
  };
}

/** A mistake here would leave open what was meant to be closed. */
function checkPattern(pattern: string, name: string): string {
  if (/^[^\s/@?#]+\/[^\s?#]+$/.test(pattern) && !pattern.includes("://")) return pattern;
  throw new SettingError(`${name}: "${pattern}" is not HOST/PATH, such as github.com/acme/*.`);
}

type Written = NonNullable<NonNullable<PlatformConfig["source_hosts"]>["github"]>;

function readGithub(written: Written): GithubSettings {
  const baseUrl = (written.base_url ?? "https://api.github.com").replace(/\/+$/, "");
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.username || url.search || url.hash)
    throw new SettingError(`source_hosts.github.base_url: "${baseUrl}" is not an address like https://HOST/api/v3.`);
  return { baseUrl, client: readClient(written), credentials: readCredentials(written) };
}

function readClient(written: Written): GithubSettings["client"] {
  const { client_id: id, client_secret_env: secretVariable } = written;
  if (id === undefined && secretVariable === undefined) return null;
  if (id === undefined || secretVariable === undefined)
    throw new SettingError(
      "source_hosts.github.client_id and client_secret_env belong together. Set both, or neither.",
    );
  return { id, secretVariable };
}

function readCredentials(written: Written): GithubSettings["credentials"] {
  const { app_id: appId, private_key_file: privateKeyFile, token_env: variable } = written;
  const isApp = appId !== undefined && privateKeyFile !== undefined;
  if (isApp && variable === undefined) return { kind: "app", appId, privateKeyFile };
  if (variable !== undefined && appId === undefined && privateKeyFile === undefined) return { kind: "token", variable };
  throw new SettingError(
    "source_hosts.github needs app_id and private_key_file, or token_env, and not both. Set one of the two.",
  );
}
