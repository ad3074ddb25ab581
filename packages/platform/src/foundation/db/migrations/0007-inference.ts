// Calls of models for programs outside: who made them, what they used and cost; no content.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table inference_calls (
      id text primary key,
      team_id integer not null references teams on delete cascade,
      user_id integer references users on delete set null,
      service_account_id uuid references service_accounts on delete set null,
      model text not null,
      status text not null check (status in ('open', 'completed', 'incomplete', 'failed', 'cut')),
      input_tokens bigint not null default 0,
      output_tokens bigint not null default 0,
      cache_read_tokens bigint not null default 0,
      cache_write_tokens bigint not null default 0,
      reasoning_tokens bigint not null default 0,
      cost_usd numeric,
      created_at timestamptz not null default now(),
      ended_at timestamptz
    );
    create index inference_of_teams on inference_calls (team_id, created_at);
    create index inference_of_users on inference_calls (user_id, created_at);
  `.execute(db);
  // Keys that may create agents could already call models through them, so no key gains or loses a right.
  await sql`
    update api_keys set scopes = array_append(scopes, 'inference:create')
    where 'agents:write' = any(scopes) and not 'inference:create' = any(scopes)
  `.execute(db);
}
