// Authenticates requests: by API key, or by the session cookie of a browser when no key was sent.
import type { Context } from "hono";
import { ApiError, type Authenticate, type Caller, type Env, type Scope } from "../foundation/index.ts";
import type { Principals } from "./principals/index.ts";
import type { Session, SessionAuthenticator } from "./sessions/index.ts";

export interface Authenticators {
  principals: Principals;
  sessionAuthenticator: SessionAuthenticator;
}

/** An Authorization header decides, whatever it holds: a valid cookie does not make up for an invalid key. */
export const openAuthentication =
  ({ principals, sessionAuthenticator }: Authenticators): Authenticate =>
  async (context) => {
    const authorization = context.req.header("authorization");
    const found = authorization === undefined ? await sessionAuthenticator.find(context) : ({ kind: "none" } as const);
    if (found.kind === "over")
      throw new ApiError("unauthorized", "This session has ended. Log in again, or send an API key.");
    if (found.kind === "session") return bySession(context, sessionAuthenticator, found.session);
    const authentication = await principals.authenticate(authorization);
    if (authentication.kind === "refused") throw new ApiError("unauthorized", authentication.reason);
    const { principal } = authentication;
    const lacks = (scope: Scope) => `The key ${principal.keyName} lacks the scope ${scope}. Use one that has it.`;
    return { principal, lacks };
  };

const safeMethods = ["GET", "HEAD", "OPTIONS"];

function bySession(context: Context<Env>, sessionAuthenticator: SessionAuthenticator, session: Session): Caller {
  if (!safeMethods.includes(context.req.method)) refuseForeignOrigin(context, sessionAuthenticator, session);
  const { principal } = session;
  const lacks = (scope: Scope) =>
    `This needs the scope ${scope}, which a ${principal.role} does not have. Ask an administrator.`;
  return { principal, lacks };
}

/** Browsers send cookies with requests made by any site. */
function refuseForeignOrigin(
  context: Context<Env>,
  sessionAuthenticator: SessionAuthenticator,
  session: Session,
): void {
  const origin = sessionAuthenticator.origin(context, session, context.req.header("x-csrf-token"));
  if (origin === "another site")
    throw new ApiError("forbidden", "This request was made by another site. Use a page of this platform, or a key.");
  if (origin === "unknown")
    throw new ApiError(
      "forbidden",
      "With a session cookie this needs the header X-CSRF-Token, equal to the form token of the session. Send it, or a key.",
    );
}
