// Which values of the environment and the agent home must never be written down or sent.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Secret } from "@agentcli/engine";
import type { Environment } from "@agentcli/host";

const shortest = 8;
const secretName = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL/i;

export function knownSecrets({ variables, agentHome }: Environment): Secret[] {
  const named = Object.entries(variables).flatMap(([name, value]) =>
    value && secretName.test(name) && isSecret(value) ? [{ name, value }] : [],
  );
  return [...named, ...savedLogin(agentHome), ...serverLogins(agentHome)];
}

/** Names promise more than values keep: paths, words and small numbers under such names are no secrets. */
const isSecret = (value: string): boolean =>
  value.length >= shortest && !value.startsWith("/") && !/^[a-z]+$/i.test(value) && !/^\d{1,11}$/.test(value);

function savedLogin(agentHome: string): Secret[] {
  try {
    const saved = JSON.parse(readFileSync(join(agentHome, "auth.json"), "utf8"));
    const values = [saved.AGENT_API_KEY, ...Object.values(saved.tokens ?? {})];
    return values.flatMap((value) =>
      typeof value === "string" && value.length >= shortest ? [{ name: "login", value }] : [],
    );
  } catch {
    // No login, or one that will be reported as damaged where it is used.
    return [];
  }
}

/** Tokens of logins to MCP servers. */
function serverLogins(agentHome: string): Secret[] {
  try {
    const saved: object = JSON.parse(readFileSync(join(agentHome, ".credentials.json"), "utf8"));
    return Object.entries(saved).flatMap(([name, { tokens = {}, client = {} }]) =>
      [tokens.access_token, tokens.refresh_token, client.client_secret].flatMap((value) =>
        typeof value === "string" && value.length >= shortest ? [{ name: `login to ${name}`, value }] : [],
      ),
    );
  } catch {
    // No logins, or a file that will be reported as damaged where it is used.
    return [];
  }
}
