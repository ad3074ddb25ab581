// What runs of deleted agents have used and cost: limits of spending and usage still count it.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(changes).execute(db);
}

/** A trigger, because every deletion has to be seen. It finds no team where the team itself is being deleted. */
const changes = `
  create table deleted_runs (
    id bigint generated always as identity primary key,
    team_id integer not null references teams on delete cascade,
    user_id integer references users on delete set null,
    service_account_id uuid references service_accounts on delete set null,
    model text,
    input_tokens bigint not null,
    output_tokens bigint not null,
    cache_read_tokens bigint not null,
    cache_write_tokens bigint not null,
    cost_usd numeric,
    created_at timestamptz not null
  );
  create index deleted_runs_of_teams on deleted_runs (team_id, created_at);
  create index deleted_runs_of_users on deleted_runs (user_id, created_at);
  create function keep_usage_of_run() returns trigger language plpgsql as $$
  begin
    insert into deleted_runs (team_id, user_id, service_account_id, model, input_tokens, output_tokens,
      cache_read_tokens, cache_write_tokens, cost_usd, created_at)
    select id, old.user_id, old.service_account_id, old.model, old.input_tokens, old.output_tokens,
      old.cache_read_tokens, old.cache_write_tokens, old.cost_usd, old.created_at
    from teams where id = old.team_id;
    return null;
  end $$;
  create trigger keep_usage_of_run after delete on runs for each row execute function keep_usage_of_run();
`;
