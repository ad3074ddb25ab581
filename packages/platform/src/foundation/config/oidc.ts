// The OpenID provider, as it is written in the configuration.
import type { PlatformConfig } from "@agentcli/protocol";
import { readPrivateUrl } from "./private-url.ts";
import { SettingError } from "./setting-error.ts";
import type { OidcSettings } from "./settings.ts";

type Written = NonNullable<PlatformConfig["oidc"]>;

export function readOidc(written: Written): OidcSettings {
  const { issuer, client_id: clientId, client_secret_env: secretVariable = null } = written;
  if (issuer === undefined || clientId === undefined)
    throw new SettingError("oidc needs issuer and client_id. Set both, or leave the whole of [oidc] out.");
  const { host } = checkIssuer(issuer);
  return {
    issuer,
    clientId,
    scopes: [...new Set(["openid", ...(written.scopes ?? ["email", "profile"])])],
    secretVariable,
    name: written.name ?? host,
    allowedDomains: (written.allowed_domains ?? []).map(checkDomain),
    allowedEmails: written.allowed_emails ?? [],
    team: written.team ?? "default",
    administrators: written.admin_groups
      ? { claim: written.groups_claim ?? "groups", groups: written.admin_groups }
      : null,
  };
}

function checkIssuer(issuer: string): URL {
  const url = readPrivateUrl(issuer);
  if (url !== null) return url;
  throw new SettingError(
    `oidc.issuer: "${issuer}" is not a URL like https://login.example.com (http is allowed only for localhost).`,
  );
}

/** A mistake here would admit users who were meant to be excluded. */
function checkDomain(domain: string): string {
  if (/^[a-z0-9-]+(\.[a-z0-9-]+)+$/i.test(domain)) return domain.toLowerCase();
  throw new SettingError(`oidc.allowed_domains: "${domain}" is not a domain such as example.com.`);
}
