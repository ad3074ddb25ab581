// Machines of customers that run the commands of agents, which agent uses which of them, and which runs wait for one.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(tables).execute(db);
  await sql`alter table runs add column needs_worker boolean not null default false`.execute(db);
}

const tables = `
  create table workers (
    team_id integer not null references teams on delete cascade,
    id text not null,
    user_id integer references users on delete cascade,
    service_account_id uuid references service_accounts on delete cascade,
    name text not null,
    pool text,
    labels jsonb not null,
    root_path text not null,
    repo_url text,
    version text not null,
    session text not null,
    node_id text,
    connected_at timestamptz not null default now(),
    last_seen_at timestamptz not null default now(),
    created_at timestamptz not null default now(),
    primary key (team_id, id)
  );
  create index workers_of_nodes on workers (node_id) where node_id is not null;
  create index workers_of_pools on workers (team_id, pool);
  create table worker_claims (
    agent_id text primary key references agents on delete cascade,
    team_id integer not null,
    worker_id text not null,
    is_exclusive boolean not null,
    claimed_at timestamptz not null default now(),
    foreign key (team_id, worker_id) references workers on delete cascade
  );
  create unique index worker_claims_exclusive on worker_claims (team_id, worker_id) where is_exclusive;
  create index worker_claims_by_worker on worker_claims (team_id, worker_id);
`;
