// The state of a login attempt, sealed in a cookie: only the browser that started the login can finish it.
import type { Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import type { DataKey } from "../../foundation/index.ts";
import type { LoginSecrets } from "./provider.ts";

export interface Attempt extends LoginSecrets {
  /** Path to open after the login. */
  next: string;
  /** Secret of the invitation to accept. */
  invitation: string | null;
}

export interface Attempts {
  keep(context: Context, attempt: Attempt): Promise<void>;
  /** Removes the cookie. Null if it has expired or was never set. */
  take(context: Context): Promise<Attempt | null>;
}

const timeoutSeconds = 600;
const sealContext = "oidc login";

export function openAttempts(key: () => Promise<DataKey>, options: { isSecure: boolean; now(): number }): Attempts {
  const { isSecure: secure, now } = options;
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
      if (sealed === undefined) return null;
      deleteCookie(context, name, { path: "/", secure });
      return read(await key(), sealed, now());
    },
  };
}

function read(key: DataKey, sealed: string, now: number): Attempt | null {
  try {
    const { attempt, until } = JSON.parse(key.openText(Buffer.from(sealed, "base64url"), sealContext));
    return until > now ? attempt : null;
  } catch {
    // Not sealed by this platform, or sealed for another purpose.
    return null;
  }
}
