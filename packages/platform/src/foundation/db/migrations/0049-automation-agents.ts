// Which automation has started an agent, for agents that outlive the record of their firing: limits and loops ask for it.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(changes).execute(db);
}

const changes = `
  create table automation_agents (
    agent_id text primary key references agents on delete cascade,
    automation_id text not null references automations on delete cascade,
    firing_id text not null,
    planned_at timestamptz not null
  );
  create index automation_agents_of_automations on automation_agents (automation_id);
`;
