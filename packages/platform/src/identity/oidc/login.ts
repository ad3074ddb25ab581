// Login with an OpenID provider, from the redirect to the callback.
import type { Context } from "hono";
import type { NetworkPolicy, OidcSettings, PlatformContext } from "../../foundation/index.ts";
import { ensureTeam } from "../principals/index.ts";
import { isSecure } from "../sessions/index.ts";
import { openAttempts } from "./attempt.ts";
import { localPath } from "./local-path.ts";
import { LoginRefused, openProvider } from "./provider.ts";
import { userFor } from "./users.ts";

export interface OidcLogin {
  /** Display name of the provider. */
  name: string;
  begin(context: Context, request: LoginRequest): Promise<Sent | Refused>;
  finish(context: Context): Promise<Arrived | Refused>;
}

export interface LoginRequest {
  /** Path to open after the login; anything but a path of this server is ignored. */
  next: string;
  invitation: string | null;
}

export type Sent = { kind: "sent"; url: string };
export type Arrived = { kind: "arrived"; userId: number; next: string };
export type Refused = { kind: "refused"; reason: string };

export const callbackPath = "/login/oidc/callback";

export interface OidcOptions {
  platform: PlatformContext;
  settings: OidcSettings;
  policy: NetworkPolicy;
  publicUrl(): string;
}

export function openOidc({ platform, settings, policy, publicUrl }: OidcOptions): OidcLogin {
  const { db, vault, log } = platform;
  const { variables } = platform.settings;
  const secret = settings.secretVariable === null ? null : (variables[settings.secretVariable] ?? null);
  const provider = openProvider({ settings, secret, policy, now: Date.now });
  const attempts = openAttempts({ db, key: teamKey, isSecure: isSecure(platform.settings), now: Date.now });

  async function teamKey() {
    const { id } = await ensureTeam(db, vault, settings.team);
    const { data_key } = await db.selectFrom("teams").select("data_key").where("id", "=", id).executeTakeFirstOrThrow();
    return vault.unwrap(data_key);
  }

  const withRefusal = async <T>(work: () => Promise<T | Refused>): Promise<T | Refused> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof LoginRefused)) throw error;
      log.warn("oidc.refused", { code: error.code });
      return { kind: "refused", reason: error.message };
    }
  };

  return {
    name: settings.name,
    begin: (context, { next, invitation }) =>
      withRefusal(async () => {
        const { url, secrets } = await provider.begin(`${publicUrl()}${callbackPath}`);
        await attempts.keep(context, { ...secrets, next: localPath(next), invitation });
        return { kind: "sent", url };
      }),
    finish: (context) =>
      withRefusal(async () => {
        const taken = await attempts.take(context);
        if (taken.kind !== "attempt") return { kind: "refused", reason: notTaken[taken.kind] };
        const { attempt } = taken;
        const callbackUrl = new URL(`${publicUrl()}${callbackPath}${new URL(context.req.url).search}`);
        const claims = await provider.finish(callbackUrl, attempt);
        const { id: teamId } = await ensureTeam(db, vault, settings.team);
        const userId = await userFor({ db, settings, teamId }, { claims, invitation: attempt.invitation });
        return { kind: "arrived", userId, next: attempt.next };
      }),
  };
}

const notTaken = {
  none: "This login was not started in this browser, or has expired. Log in again.",
  used: "This login was already used. Log in again.",
};
