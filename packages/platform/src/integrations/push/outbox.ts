// What is to be sent: rows inserted by the statement that ends a run, one for each browser of the agent's owner.
import { type RawBuilder, sql } from "kysely";
import type { RunStatus } from "../../foundation/index.ts";

/** Notification channel of servers that send. */
export const pushChannel = "pushes";

/**
 * Part of the statement that ends a run (its common table expression `fence`). Who stops a run knows that it ended, and agents
 * of programs are theirs to watch, as in the inbox.
 */
export const enqueuePushes = (status: RunStatus, endedAt: Date): RawBuilder<unknown> => sql`
  insert into push_messages (id, session_id, run_id, next_attempt_at)
  select 'push_' || gen_random_uuid(), push_subscriptions.session_id, fence.id, ${endedAt}::timestamptz
  from fence join agents on agents.id = fence.agent_id
  join sessions on sessions.user_id = agents.user_id and sessions.ended_at is null
  join push_subscriptions on push_subscriptions.session_id = sessions.id
  where ${status !== "CANCELLED"} and agents.source <> 'SDK'
  returning pg_notify(${pushChannel}, id)
`;
