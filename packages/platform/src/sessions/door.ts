// The session that a request comes with: a cookie that only our own pages can use to change something.
import { timingSafeEqual } from "node:crypto";
import type { Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { becomeActor } from "../db/index.ts";
import { principalName } from "../principals/index.ts";
import { isSecret } from "./secret.ts";
import type { Session, SessionMethod, Sessions } from "./sessions.ts";

export interface SessionDoor {
  /** Gives the browser a session; the one it had is over. */
  enter(context: Context, userId: number, method: SessionMethod): Promise<void>;
  leave(context: Context): Promise<void>;
  find(context: Context): Promise<Found>;
  /** Whether another site made the browser send it. */
  isFromElsewhere(context: Context): boolean;
  /** Whether a request that would change something was made by a page of ours, shown to this very session. */
  origin(context: Context, session: Session, sentToken: string | undefined): "own page" | "another site" | "unknown";
}

export type Found = { kind: "session"; session: Session } | { kind: "over" } | { kind: "none" };

/** Where browsers reach this server. */
export interface Reached {
  publicUrl: string | null;
  tls: unknown;
}

export function openSessionDoor(sessions: Sessions, reached: Reached): SessionDoor {
  const secure = isSecure(reached);
  const name = secure ? "__Host-platform_session" : "platform_session";
  const endFormer = async (context: Context): Promise<void> => {
    const secret = getCookie(context, name);
    if (secret !== undefined && isSecret(secret)) await sessions.end(secret);
  };
  return {
    async leave(context) {
      await endFormer(context);
      deleteCookie(context, name, { path: "/", secure });
    },
    async enter(context, userId, method) {
      becomeActor(`user:${userId}`);
      await endFormer(context);
      // Not strict: whoever comes back from a provider, or follows a link to an agent, is to be known.
      const kept = { httpOnly: true, sameSite: "Lax", path: "/", maxAge: cookieSeconds, secure } as const;
      setCookie(context, name, await sessions.begin(userId, method), kept);
    },
    async find(context) {
      const secret = getCookie(context, name);
      if (secret === undefined) return { kind: "none" };
      const session = await sessions.find(secret);
      if (!session) return { kind: "over" };
      becomeActor(principalName(session.principal));
      return { kind: "session", session };
    },
    isFromElsewhere: (context) => isFromElsewhere(context, reached),
    origin(context, { formToken }, sentToken) {
      if (isFromElsewhere(context, reached)) return "another site";
      return isSame(sentToken ?? "", formToken) ? "own page" : "unknown";
    },
  };
}

/** As long as a session can last: the server knows when it is over. */
const cookieSeconds = 7 * 24 * 3_600;

/** A public address counts more than what is listened on: TLS may end at a proxy. */
export const isSecure = ({ publicUrl, tls }: Reached): boolean =>
  publicUrl === null ? tls !== null : publicUrl.startsWith("https:");

function isFromElsewhere({ req }: Context, reached: Reached): boolean {
  const site = req.header("sec-fetch-site");
  if (site !== undefined && site !== "same-origin" && site !== "none") return true;
  const origin = req.header("origin");
  if (origin === undefined) return false;
  const own = [`${isSecure(reached) ? "https" : "http"}://${req.header("host")}`];
  if (reached.publicUrl !== null) own.push(new URL(reached.publicUrl).origin);
  return !own.includes(origin);
}

function isSame(given: string, expected: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}
