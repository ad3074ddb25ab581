// Authenticates requests by session cookie, and tells requests of our own pages from those of other sites.
import { timingSafeEqual } from "node:crypto";
import type { Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { becomeActor } from "../../foundation/index.ts";
import { becomePrincipal } from "../principals/index.ts";
import type { LoggedIn } from "./login-links.ts";
import { hashSecret, isSecret } from "./secret.ts";
import type { Session, SessionMethod, Sessions } from "./sessions.ts";

export interface SessionAuthenticator {
  /** Starts a session and ends the browser's former one. */
  logIn(context: Context, user: LoggedIn, method: SessionMethod): Promise<void>;
  logOut(context: Context): Promise<void>;
  find(context: Context): Promise<Found>;
  /** Whether another site made the browser send the request. */
  isCrossSite(context: Context): boolean;
  /** This browser is shown the page of an invitation. */
  noteInvitation(context: Context, secret: string): void;
  /** Whether a person goes on from the page of this invitation: a link of another site carries no strict cookie. */
  comesFromInvitation(context: Context, secret: string): boolean;
  /** Whether a state-changing request was made by a page that this server rendered for this session. */
  origin(context: Context, session: Session, sentToken: string | undefined): "own page" | "another site" | "unknown";
}

export type Found = { kind: "session"; session: Session } | { kind: "over" } | { kind: "none" };

/** How browsers reach this server. */
export interface ServerAddress {
  publicUrl: string | null;
  tls: unknown;
}

export function openSessionAuthenticator(sessions: Sessions, address: ServerAddress): SessionAuthenticator {
  const secure = isSecure(address);
  const name = secure ? "__Host-platform_session" : "platform_session";
  const invitationName = secure ? "__Host-platform_invitation" : "platform_invitation";
  const endFormer = async (context: Context): Promise<void> => {
    const secret = getCookie(context, name);
    if (secret !== undefined && isSecret(secret)) await sessions.end(secret);
  };
  return {
    async logOut(context) {
      await endFormer(context);
      deleteCookie(context, name, { path: "/", secure });
    },
    async logIn(context, { userId, isUnproved }, method) {
      becomeActor(`user:${userId}`, isUnproved ? userId : null);
      await endFormer(context);
      // Lax, not Strict: a redirect from a provider or a link to an agent must carry the cookie.
      const cookie = { httpOnly: true, sameSite: "Lax", path: "/", maxAge: cookieSeconds, secure } as const;
      setCookie(context, name, await sessions.begin(userId, method), cookie);
    },
    async find(context) {
      const secret = getCookie(context, name);
      if (secret === undefined) return { kind: "none" };
      const session = await sessions.find(secret);
      if (!session) return { kind: "over" };
      becomePrincipal(session.principal, session);
      return { kind: "session", session };
    },
    isCrossSite: (context) => isCrossSite(context, address),
    noteInvitation: (context, secret) =>
      setCookie(context, invitationName, hashSecret(secret).toString("hex"), {
        ...{ httpOnly: true, sameSite: "Strict", path: "/", maxAge: invitationSeconds, secure },
      }),
    comesFromInvitation: (context, secret) =>
      !isCrossSite(context, address) &&
      isSame(getCookie(context, invitationName) ?? "", hashSecret(secret).toString("hex")),
    origin(context, { formToken }, sentToken) {
      if (isCrossSite(context, address)) return "another site";
      return isSame(sentToken ?? "", formToken) ? "own page" : "unknown";
    },
  };
}

/** The longest a session can last; the server decides when it ends. */
const cookieSeconds = 7 * 24 * 3_600;
const invitationSeconds = 3_600;

/** The public URL wins over the listener: TLS may end at a proxy. */
export const isSecure = ({ publicUrl, tls }: ServerAddress): boolean =>
  publicUrl === null ? tls !== null : publicUrl.startsWith("https:");

function isCrossSite({ req }: Context, address: ServerAddress): boolean {
  const site = req.header("sec-fetch-site");
  if (site !== undefined && site !== "same-origin" && site !== "none") return true;
  const origin = req.header("origin");
  if (origin === undefined) return false;
  const own = [`${isSecure(address) ? "https" : "http"}://${req.header("host")}`];
  if (address.publicUrl !== null) own.push(new URL(address.publicUrl).origin);
  return !own.includes(origin);
}

function isSame(sent: string, expected: string): boolean {
  const [left, right] = [Buffer.from(sent), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}
