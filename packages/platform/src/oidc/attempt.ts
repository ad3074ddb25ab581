// What a browser takes along to the provider and back: sealed in a cookie, so that only the browser that went away comes in.
import type { Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import type { DataKey } from "../vault/index.ts";
import type { LoginSecrets } from "./provider.ts";

export interface Attempt extends LoginSecrets {
  /** Where to go then. */
  next: string;
  /** The secret of the invitation that is to be accepted. */
  invitation: string | null;
}

export interface Attempts {
  keep(context: Context, attempt: Attempt): Promise<void>;
  /** Once: the cookie is gone afterwards. Null where it is too old or was never given. */
  take(context: Context): Promise<Attempt | null>;
}

const patienceSeconds = 600;
const about = "oidc login";

export function openAttempts(key: () => Promise<DataKey>, options: { isSecure: boolean; now(): number }): Attempts {
  const { isSecure: secure, now } = options;
  const name = secure ? "__Host-platform_login" : "platform_login";
  return {
    async keep(context, attempt) {
      const text = JSON.stringify({ attempt, until: now() + patienceSeconds * 1_000 });
      const sealed = (await key()).seal(text, about).toString("base64url");
      // The provider sends the browser back: a strict one would stay at home.
      setCookie(context, name, sealed, {
        ...{ httpOnly: true, sameSite: "Lax", path: "/", maxAge: patienceSeconds, secure },
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
    const { attempt, until } = JSON.parse(key.openText(Buffer.from(sealed, "base64url"), about));
    return until > now ? attempt : null;
  } catch {
    // Not sealed by us, or for something else.
    return null;
  }
}
