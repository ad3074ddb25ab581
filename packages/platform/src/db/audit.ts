// What happened and is no change of a row, for the audit log. Changes of rows are noted by the database itself.
import { sql } from "kysely";
import type { Queries } from "./tables/index.ts";

export interface Happening {
  /** `subject.verbed` */
  action: string;
  /** The id of what it happened to. */
  subject: string;
  /** Nothing that a person wrote. */
  data: Record<string, string | number>;
}

export async function noteHappening(db: Queries, { action, subject, data }: Happening): Promise<void> {
  await sql`select audit_append(${action}, ${subject}, ${JSON.stringify(data)}::jsonb)`.execute(db);
}
