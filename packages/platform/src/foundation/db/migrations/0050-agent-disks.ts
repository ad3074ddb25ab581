// Which data directory has the files of an agent, and what of hosted repositories is in the object store.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(changes).execute(db);
}

const changes = `
  create table agent_disks (
    agent_id text primary key references agents (id) on delete cascade,
    data_id text not null,
    node_name text not null,
    save_id text,
    is_bound boolean not null,
    updated_at timestamptz not null default now()
  );
  create table hosted_repository_saves (
    repository_id integer primary key references hosted_repositories (id) on delete cascade,
    version integer not null,
    head text not null,
    refs jsonb not null,
    packs text[] not null
  );
`;
