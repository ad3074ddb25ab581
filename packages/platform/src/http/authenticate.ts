// Who asks: by a key, or by the session of a browser where no key was sent.
import type { Context } from "hono";
import type { Principal, Principals, Scope } from "../principals/index.ts";
import type { Session, SessionDoor } from "../sessions/index.ts";
import { ApiProblem } from "./problem.ts";
import type { Env } from "./route.ts";

export interface Asker {
  principal: Principal;
  /** Why a scope is not theirs, and what to do. */
  lacks(scope: Scope): string;
}

export interface Doors {
  principals: Principals;
  door: SessionDoor;
}

/** A header that is there decides, whatever it holds: a bad key is not mended by a good cookie. */
export async function authenticate(context: Context<Env>, { principals, door }: Doors): Promise<Asker> {
  const authorization = context.req.header("authorization");
  const found = authorization === undefined ? await door.find(context) : ({ kind: "none" } as const);
  if (found.kind === "over")
    throw new ApiProblem("unauthorized", "This session is over. Log in again, or send an API key.");
  if (found.kind === "session") return bySession(context, door, found.session);
  const authentication = await principals.authenticate(authorization);
  if (authentication.kind === "refused") throw new ApiProblem("unauthorized", authentication.reason);
  const { principal } = authentication;
  const lacks = (scope: Scope) => `The key ${principal.keyName} lacks the scope ${scope}. Use one that has it.`;
  return { principal, lacks };
}

const safeMethods = ["GET", "HEAD", "OPTIONS"];

function bySession(context: Context<Env>, door: SessionDoor, session: Session): Asker {
  if (!safeMethods.includes(context.req.method)) refuseOthers(context, door, session);
  const { principal } = session;
  const lacks = (scope: Scope) =>
    `This needs the scope ${scope}, which a ${principal.role} does not have. Ask an admin.`;
  return { principal, lacks };
}

/** A browser sends its cookie along with whatever any site asks for. */
function refuseOthers(context: Context<Env>, door: SessionDoor, session: Session): void {
  const origin = door.origin(context, session, context.req.header("x-csrf-token"));
  if (origin === "another site")
    throw new ApiProblem("forbidden", "This request was made by another site. Use a page of this platform, or a key.");
  if (origin === "unknown")
    throw new ApiProblem(
      "forbidden",
      "With a session cookie this needs the header X-CSRF-Token, equal to the form token of the session. Send it, or a key.",
    );
}
