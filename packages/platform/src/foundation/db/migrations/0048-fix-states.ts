// The state of each automatic fix that its pull request shows.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(changes).execute(db);
}

const changes = `
  alter table subscriptions add column shown_state text;
  update subscriptions set shown_state = coalesce(ended_reason, status) where source = 'ci_fix';
  create index subscriptions_to_show on subscriptions (created_at)
    where source = 'ci_fix' and shown_state is distinct from coalesce(ended_reason, status);
  create trigger tell_of_fix_states after insert or update on subscriptions
    for each row when (new.source = 'ci_fix' and new.shown_state is distinct from coalesce(new.ended_reason, new.status))
    execute function tell_automations();
`;
