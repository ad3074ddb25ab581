// Workload identity: the identity token of the machine we run on, exchanged for a short-lived key (RFC 8693).
import { readFileSync } from "node:fs";
import { CommandError } from "@agentcli/command-line";
import type { Environment } from "@agentcli/host";
import type { KeySource } from "@agentcli/models";
import type { CompleteIdentity } from "./credential.ts";
import { askEndpoint, endpointUrl, tokenIn } from "./endpoint.ts";
import { renewing, type Token } from "./token.ts";

export function workloadKey(identity: CompleteIdentity, environment: Environment): KeySource {
  return renewing(null, () => exchange(identity, environment));
}

async function exchange(identity: CompleteIdentity, environment: Environment): Promise<Token> {
  const url = endpointUrl(identity.token_endpoint, "auth.workload_identity.token_endpoint");
  const subject = await identityToken(identity, environment);
  const askedAtMs = Date.now();
  const fields = await askEndpoint({
    url,
    form: {
      grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
      subject_token: subject,
      subject_token_type: "urn:ietf:params:oauth:token-type:id_token",
      requested_token_type: "urn:ietf:params:oauth:token-type:access_token",
      audience: identity.audience,
    },
    secrets: [subject],
  });
  const lastsSeconds = Number(fields.expires_in);
  const expiresAtMs = fields.expires_in === undefined || !(lastsSeconds > 0) ? null : askedAtMs + lastsSeconds * 1000;
  return { token: tokenIn(fields, "access_token", url), expiresAtMs };
}

/** Read again for every exchange: runners replace it long before the key expires. */
async function identityToken(identity: CompleteIdentity, { variables }: Environment): Promise<string> {
  if (identity.token_file) return present(readToken(identity.token_file), identity.token_file);
  if (identity.token_env) return present(variables[identity.token_env], `The variable ${identity.token_env}`);
  const { ACTIONS_ID_TOKEN_REQUEST_URL: url, ACTIONS_ID_TOKEN_REQUEST_TOKEN: bearer } = variables;
  if (url && bearer) return askWorkflowRunner(url, bearer, identity.audience);
  throw new CommandError(
    "auth",
    "Workload identity is configured, but there is no identity token here. Set auth.workload_identity.token_file or token_env, or give the workflow job the permission id-token: write.",
  );
}

async function askWorkflowRunner(address: string, bearer: string, audience: string): Promise<string> {
  const url = endpointUrl(address, "ACTIONS_ID_TOKEN_REQUEST_URL");
  url.searchParams.set("audience", audience);
  const fields = await askEndpoint({ url, headers: { authorization: `bearer ${bearer}` }, secrets: [bearer] });
  return tokenIn(fields, "value", url);
}

function readToken(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new CommandError("auth", `The identity token file ${path} cannot be read: ${(error as Error).message}.`);
  }
}

function present(text: string | undefined, source: string): string {
  const token = text?.trim();
  if (token) return token;
  throw new CommandError(
    "auth",
    `${source} holds no identity token. Check auth.workload_identity in the configuration.`,
  );
}
