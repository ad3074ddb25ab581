// Webhooks that hear about the end of runs, and their deliveries.
import type { ColumnType } from "kysely";
import type { Sealed, Stamped, Timestamp } from "./columns.ts";

export type WebhookVersion = "v0" | "v1";

/** At most one per agent. */
export interface WebhookTable {
  agent_id: string;
  /** Which API it was asked for through: events and bodies are those of that version. */
  version: WebhookVersion;
  url: Sealed;
  secret: Sealed | null;
  created_at: Stamped;
}

/** The outbox: written with the end of a run, in one statement. */
export interface WebhookDeliveryTable {
  /** The same on every attempt. */
  id: string;
  agent_id: string;
  run_id: string;
  /** Made for the first attempt; every later one sends the same bytes. */
  body: Sealed | null;
  status: "waiting" | "delivered" | "dead";
  /** Made so far; each names what it does by its number. */
  attempts: ColumnType<number, number | undefined, number>;
  /** Of them, those before a redelivery was requested. */
  attempts_before: ColumnType<number, number | undefined, number>;
  next_attempt_at: Timestamp | null;
  /** When a job was last made for the next attempt; null where none is. */
  queued_at: Timestamp | null;
  created_at: Stamped;
}

export interface WebhookAttemptTable {
  delivery_id: string;
  number: number;
  started_at: Timestamp;
  duration_ms: number;
  outcome: "delivered" | "refused" | "timed_out" | "unreachable" | "forbidden";
  response_status: number | null;
}
