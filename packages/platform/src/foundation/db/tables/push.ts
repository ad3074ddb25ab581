// Notifications to browsers about ended runs, and about what waits for a decision.
import type { Generated } from "kysely";
import type { Perhaps, Sealed, Stamped, Timestamp } from "./columns.ts";

/** One for each browser that is logged in, at most. */
export interface PushSubscriptionTable {
  session_id: string;
  /** Under the data key of the team: address and keys, as JSON. */
  subscription: Sealed;
  created_at: Stamped;
}

/** What is still to be sent. */
export interface PushMessageTable {
  id: string;
  session_id: string;
  /** That has ended, or else of the draft build that waits. */
  run_id: Perhaps<string>;
  build_id: Perhaps<string>;
  attempts: Generated<number>;
  next_attempt_at: Timestamp;
  created_at: Stamped;
}
