// How much the events of each source occupy, so that a team's limit costs no scan, and when a pull request was last seen.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(statements).execute(db);
}

/** 1024: the row itself, so that events without a body are limited as well. */
const statements = `
  alter table event_sources add column stored_bytes bigint not null default 0;
  update event_sources set stored_bytes = coalesce(
    (select sum(octet_length(body) + 1024) from inbound_events where source_id = event_sources.id), 0);
  create function release_event_bytes() returns trigger language plpgsql as $$
  begin
    update event_sources set stored_bytes = stored_bytes - released.bytes
    from (select source_id, sum(octet_length(body) + 1024) as bytes from removed group by source_id) as released
    where event_sources.id = released.source_id;
    return null;
  end $$;
  create trigger release_event_bytes after delete on inbound_events referencing old table as removed
    for each statement execute function release_event_bytes();
  alter table inbound_pull_requests add column seen_at timestamptz not null default now();
`;
