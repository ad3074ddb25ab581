// How roles of AWS are assumed for agents, as it is written in the configuration.
import type { PlatformConfig } from "@agentcli/protocol";
import { readPrivateUrl } from "./private-url.ts";
import { SettingError } from "./setting-error.ts";
import type { CloudRoleSettings } from "./settings.ts";

type Written = NonNullable<PlatformConfig["cloud_roles"]>;

export function readCloudRoles(written: Written = {}): CloudRoleSettings {
  const { identity = "token", region = "us-east-1", audience = "sts.amazonaws.com" } = written;
  const domain = region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
  const endpoint = readEndpoint(written.endpoint ?? `https://sts.${region}.${domain}`);
  if (!/^[ -~]+$/.test(audience))
    throw new SettingError(`cloud_roles.audience: "${audience}" has characters other than printable ASCII. Check it.`);
  return { endpoint, region, audience, credentials: identity === "credentials" ? variableNames(written) : null };
}

/** Those that credentials need; a session token may be missing. */
export function variablesOfCloudRoles(written: Written | undefined) {
  if (written?.identity !== "credentials") return [];
  const { accessKeyVariable, secretKeyVariable } = variableNames(written);
  const remedy = "Put the credentials there that may assume the roles of teams.";
  return [
    { setting: "cloud_roles.access_key_id_env", variable: accessKeyVariable, remedy },
    { setting: "cloud_roles.secret_access_key_env", variable: secretKeyVariable, remedy },
  ];
}

const variableNames = (written: Written) => ({
  accessKeyVariable: written.access_key_id_env ?? "AWS_ACCESS_KEY_ID",
  secretKeyVariable: written.secret_access_key_env ?? "AWS_SECRET_ACCESS_KEY",
  sessionTokenVariable: written.session_token_env ?? "AWS_SESSION_TOKEN",
});

/** It answers with credentials: they do not leave this machine without TLS. */
function readEndpoint(endpoint: string): string {
  if (readPrivateUrl(endpoint) !== null) return endpoint.replace(/\/+$/, "");
  throw new SettingError(
    `cloud_roles.endpoint: "${endpoint}" is not a URL like https://sts.eu-central-1.amazonaws.com (http is allowed only for localhost).`,
  );
}
