// The access token of a managed account: used while it holds, then renewed at the configured endpoint and saved.
import { CommandError } from "@agentcli/command-line";
import { type Environment, type Lock, takeLock } from "@agentcli/host";
import type { KeySource } from "@agentcli/models";
import type { AccountTokens, Auth, AuthFile } from "@agentcli/protocol";
import { authPath, readAuthFile, writeAuthFile } from "./auth-file.ts";
import { askEndpoint, endpointUrl, tokenIn } from "./endpoint.ts";
import { isFresh, jwtExpiryMs, renewing, type Token } from "./token.ts";

export function accountKey(tokens: AccountTokens, auth: Auth, { agentHome }: Environment): KeySource {
  let known = tokens.access_token;
  return renewing(tokenOf(tokens), async () => {
    const renewed = await renewUnderLock(known, auth, agentHome);
    known = renewed.access_token;
    return tokenOf(renewed);
  });
}

/** Issuers take a refresh token once: of several runs one renews, the others find what it saved. */
async function renewUnderLock(known: string, auth: Auth, home: string): Promise<AccountTokens> {
  const lock = await waitForLock(`${authPath(home)}.lock`);
  try {
    const saved = await readAuthFile(home);
    if (!saved?.content.tokens)
      throw new CommandError("auth", "The saved login is gone. Log in again: agentcli login.");
    const { tokens } = saved.content;
    if (tokens.access_token !== known && isFresh(tokenOf(tokens))) return tokens;
    return await renew(tokens, saved.content, auth, home);
  } finally {
    lock.release();
  }
}

async function renew(tokens: AccountTokens, content: AuthFile, auth: Auth, home: string): Promise<AccountTokens> {
  const url = endpointUrl(auth.refresh_endpoint ?? "", "auth.refresh_endpoint");
  const refresh = tokens.refresh_token ?? "";
  const fields = await askEndpoint({
    url,
    form: {
      grant_type: "refresh_token",
      refresh_token: refresh,
      ...(auth.client_id !== undefined && { client_id: auth.client_id }),
    },
    secrets: [refresh, tokens.access_token],
  });
  const renewed: AccountTokens = {
    ...tokens,
    access_token: tokenIn(fields, "access_token", url),
    ...textField(fields.refresh_token, "refresh_token"),
    ...textField(fields.id_token, "id_token"),
  };
  writeAuthFile(home, { ...content, tokens: renewed, last_refresh: new Date().toISOString() });
  return renewed;
}

const textField = (value: unknown, name: string): Record<string, string> =>
  typeof value === "string" ? { [name]: value } : {};

const tokenOf = ({ access_token: token }: AccountTokens): Token => ({ token, expiresAtMs: jwtExpiryMs(token) });

const maxWaitMs = 30_000;
const lookAgainMs = 50;

async function waitForLock(path: string): Promise<Lock> {
  const startedMs = Date.now();
  for (;;) {
    const attempt = takeLock(path);
    if (attempt.kind === "held") return attempt.lock;
    if (Date.now() - startedMs > maxWaitMs) {
      throw new CommandError(
        "auth",
        `Process ${attempt.pid} has been renewing the login for ${maxWaitMs / 1000} s. Try again.`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, lookAgainMs));
  }
}
