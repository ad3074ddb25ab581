// What the routes of members, invitations, keys and service accounts use.
import type { Kysely } from "kysely";
import { ApiError, type Tables } from "../../foundation/index.ts";
import { type Principal, PrincipalError, type Principals } from "../principals/index.ts";
import type { Sessions } from "../sessions/index.ts";

export interface IdentityHost {
  db: Kysely<Tables>;
  sessions: Sessions;
  principals: Principals;
  /** Name of the provider that people log in with; null without one. */
  provider: string | null;
  publicUrl(): string;
}

/** Errors that the caller can correct are answered as such. */
export async function answering<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof PrincipalError ? new ApiError("validation_error", error.message) : error;
  }
}

/** A key that leaks must not become a browser session or another key. `action` completes "can". */
export async function requireSession({ sessions }: IdentityHost, { keyId }: Principal, action: string): Promise<void> {
  if ((await sessions.findUser(keyId)) === null)
    throw new ApiError("key_not_supported", `Only a logged in user can ${action}, not a key. Use the web app.`);
}
