// The state of a login attempt, sealed in a cookie: only the browser that started the login can finish it, and once.
import type { Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import type { DataKey, Queries } from "../../foundation/index.ts";
import { hashSecret } from "../sessions/index.ts";
import type { LoginSecrets } from "./provider.ts";

export interface Attempt extends LoginSecrets {
  /** Path to open after the login. */
  next: string;
  /** Secret of the invitation to accept. */
  invitation: string | null;
}

export interface Attempts {
  keep(context: Context, attempt: Attempt): Promise<void>;
  /** Removes the cookie and uses the attempt up, on all servers: a copy of the cookie is worthless afterwards. */
  take(context: Context): Promise<TakenAttempt>;
}

/** `none`: the cookie has expired or was never set. */
export type TakenAttempt = { kind: "attempt"; attempt: Attempt } | { kind: "used" } | { kind: "none" };

export interface AttemptOptions {
  db: Queries;
  key(): Promise<DataKey>;
  isSecure: boolean;
  now(): number;
}

const timeoutSeconds = 600;
const sealContext = "oidc login";

export function openAttempts({ db, key, isSecure: secure, now }: AttemptOptions): Attempts {
  const name = secure ? "__Host-platform_login" : "platform_login";
  return {
    async keep(context, attempt) {
      const text = JSON.stringify({ attempt, until: now() + timeoutSeconds * 1_000 });
      const sealed = (await key()).seal(text, sealContext).toString("base64url");
      // Lax: the provider redirects the browser back, and a strict cookie would not be sent.
      setCookie(context, name, sealed, {
        ...{ httpOnly: true, sameSite: "Lax", path: "/", maxAge: timeoutSeconds, secure },
      });
    },
    async take(context) {
      const sealed = getCookie(context, name);
      if (sealed === undefined) return { kind: "none" };
      deleteCookie(context, name, { path: "/", secure });
      const found = read(await key(), sealed, now());
      if (found === null) return { kind: "none" };
      const isFirst = await claimAttempt(db, found, new Date(now()));
      return isFirst ? { kind: "attempt", attempt: found.attempt } : { kind: "used" };
    },
  };
}

interface SealedAttempt {
  attempt: Attempt;
  until: number;
}

function read(key: DataKey, sealed: string, now: number): SealedAttempt | null {
  try {
    const found: SealedAttempt = JSON.parse(key.openText(Buffer.from(sealed, "base64url"), sealContext));
    return found.until > now ? found : null;
  } catch {
    // Not sealed by this platform, or sealed for another purpose.
    return null;
  }
}

/** Of concurrent calls on any server one succeeds. A row is written at the callback, so that starting a login costs none. */
async function claimAttempt(db: Queries, { attempt, until }: SealedAttempt, now: Date): Promise<boolean> {
  await db.deleteFrom("used_login_attempts").where("expires_at", "<", now).execute();
  const claimed = await db
    .insertInto("used_login_attempts")
    .values({ hash: hashSecret(attempt.state), expires_at: new Date(until) })
    .onConflict((conflict) => conflict.doNothing())
    .returning("hash")
    .executeTakeFirst();
  return claimed !== undefined;
}
