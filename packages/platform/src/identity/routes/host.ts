// What the routes of members and invitations use.
import type { Kysely } from "kysely";
import { ApiError, type Tables } from "../../foundation/index.ts";
import { PrincipalError } from "../principals/index.ts";
import type { Sessions } from "../sessions/index.ts";

export interface IdentityHost {
  db: Kysely<Tables>;
  sessions: Sessions;
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
