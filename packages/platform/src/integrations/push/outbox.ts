// What is to be sent: rows inserted by the statement that ends a run, one for each browser of the agent's owner, and by the
// transaction that ends a draft build, one for each browser of those who may activate it.
import { type RawBuilder, sql } from "kysely";
import { listNodes, type Queries, type RunStatus, version } from "../../foundation/index.ts";

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

/**
 * Part of the transaction in which the draft build ends. Not while servers are upgraded: one of another version may not know
 * messages about builds, and would end the subscription for which it finds no run.
 */
export async function enqueueDraftPushes(tx: Queries, buildId: string): Promise<void> {
  if ((await listNodes(tx)).some((node) => node.isRunning && node.version !== version)) return;
  await sql`
    insert into push_messages (id, session_id, build_id, next_attempt_at)
    select 'push_' || gen_random_uuid(), push_subscriptions.session_id, environment_builds.id, now()
    from environment_builds join environments on environments.id = environment_builds.environment_id
    join users on users.id = environments.user_id
      or environments.user_id is null and users.team_id = environments.team_id and users.role = 'admin'
    join sessions on sessions.user_id = users.id and sessions.ended_at is null
    join push_subscriptions on push_subscriptions.session_id = sessions.id
    where environment_builds.id = ${buildId} and users.removed_at is null
    returning pg_notify(${pushChannel}, push_messages.id)
  `.execute(tx);
}
