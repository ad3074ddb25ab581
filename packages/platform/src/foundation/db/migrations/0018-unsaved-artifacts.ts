// Artifacts of a run that could not be kept, and when to try again.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table runs add column unsaved_artifacts bytea, add column retry_artifacts_at timestamptz;
    create index runs_with_unsaved_artifacts on runs (retry_artifacts_at) where retry_artifacts_at is not null
  `.execute(db);
}
