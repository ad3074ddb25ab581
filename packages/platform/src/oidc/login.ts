// Logging in with an OpenID provider: away with a browser, back with a user.
import type { Context } from "hono";
import type { OidcSettings } from "../config/index.ts";
import type { NetworkPolicy } from "../network/index.ts";
import type { Platform } from "../platform.ts";
import { provideTeam } from "../principals/index.ts";
import { isSecure } from "../sessions/index.ts";
import { openAttempts } from "./attempt.ts";
import { localPath } from "./local-path.ts";
import { LoginRefused, openProvider } from "./provider.ts";
import { userFor } from "./users.ts";

export interface OidcLogin {
  /** What people call the provider. */
  name: string;
  begin(context: Context, wish: LoginWish): Promise<Sent | Refused>;
  finish(context: Context): Promise<Arrived | Refused>;
}

export interface LoginWish {
  /** Where to go then; only a path of ours is heeded. */
  next: string;
  invitation: string | null;
}

export type Sent = { kind: "sent"; url: string };
export type Arrived = { kind: "arrived"; userId: number; next: string };
export type Refused = { kind: "refused"; reason: string };

export const callbackPath = "/login/oidc/callback";

export interface OidcOptions {
  platform: Platform;
  settings: OidcSettings;
  policy: NetworkPolicy;
  publicUrl(): string;
}

export function openOidc({ platform, settings, policy, publicUrl }: OidcOptions): OidcLogin {
  const { db, vault, log } = platform;
  const { variables } = platform.settings;
  const secret = settings.secretVariable === null ? null : (variables[settings.secretVariable] ?? null);
  const provider = openProvider({ settings, secret, policy, now: Date.now });
  const attempts = openAttempts(teamKey, { isSecure: isSecure(platform.settings), now: Date.now });

  async function teamKey() {
    const { id } = await provideTeam(db, vault, settings.team);
    const { data_key } = await db.selectFrom("teams").select("data_key").where("id", "=", id).executeTakeFirstOrThrow();
    return vault.unwrap(data_key);
  }

  const explained = async <T>(work: () => Promise<T | Refused>): Promise<T | Refused> => {
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
      explained(async () => {
        const { url, secrets } = await provider.begin(`${publicUrl()}${callbackPath}`);
        await attempts.keep(context, { ...secrets, next: localPath(next), invitation });
        return { kind: "sent", url };
      }),
    finish: (context) =>
      explained(async () => {
        const attempt = await attempts.take(context);
        if (attempt === null)
          return { kind: "refused", reason: "This login was not begun in this browser, or long ago. Log in again." };
        const cameBackTo = new URL(`${publicUrl()}${callbackPath}${new URL(context.req.url).search}`);
        const claims = await provider.finish(cameBackTo, attempt);
        const { id: teamId } = await provideTeam(db, vault, settings.team);
        const userId = await userFor({ db, settings, teamId }, { claims, invitation: attempt.invitation });
        return { kind: "arrived", userId, next: attempt.next };
      }),
  };
}
