// Events whose wake-up was deleted with its automation are free again; wake-ups outlive their automations.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(changes).execute(db);
}

const changes = `
  alter table wake_ups drop constraint wake_ups_automation_id_fkey;
  update subscription_events as waiting set run_id = runs.id from runs
    where runs.agent_id = waiting.agent_id and runs.request_id = batch_id and run_id is null
      and not exists (select from wake_ups where wake_ups.id = batch_id);
  update subscription_events set batch_id = null
    where run_id is null and batch_id not in (select id from wake_ups);
  create index wake_ups_of_agents on wake_ups (agent_id);
  create index subscription_events_of_wake_ups on subscription_events (batch_id) where batch_id is not null;
  create index handoffs_by_branch on handoffs (branch);
`;
