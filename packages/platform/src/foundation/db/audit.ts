// Events for the audit log that are not changes of a row; triggers record those.
import { sql } from "kysely";
import type { Queries } from "./tables/index.ts";

export interface AuditEvent {
  /** `subject.verbed` */
  action: string;
  /** The id of what it happened to. */
  subject: string;
  /** Nothing that a person wrote. */
  data: Record<string, string | number>;
}

export async function recordAuditEvent(db: Queries, { action, subject, data }: AuditEvent): Promise<void> {
  await sql`select audit_append(${action}, ${subject}, ${JSON.stringify(data)}::jsonb)`.execute(db);
}
