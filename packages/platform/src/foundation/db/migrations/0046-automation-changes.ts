// Tells the servers with the role scheduler that automations have something new to do, so that they need not poll.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(changes).execute(db);
}

/** Messages of one transaction that are the same are sent once. */
const changes = `
  create function tell_automations() returns trigger language plpgsql as $$
  begin
    perform pg_notify('automations', '');
    return null;
  end $$;
  create trigger tell_of_firings after insert or update on automation_firings
    for each row when (new.status = 'planned') execute function tell_automations();
  create trigger tell_of_events after insert on inbound_events
    for each row when (new.status = 'received') execute function tell_automations();
  create trigger tell_of_backtests after insert on automation_backtests
    for each row execute function tell_automations();
  create trigger tell_of_subscriptions after insert or update on subscriptions
    for each row when (new.status = 'active') execute function tell_automations();
  create trigger tell_of_subscribed_events after insert on subscription_events
    for each row execute function tell_automations();
  create index subscription_events_by_age on subscription_events (created_at) where run_id is null;
`;
