// Removes firings some time after they were decided, with the events that caused them, alerts, and what agents waited for.
import { type Kysely, type RawBuilder, sql } from "kysely";
import { inBatches, type RetentionRule, type Tables } from "../foundation/index.ts";

const batchSize = 500;

/** What is planned stays, and so does an alert about it: it would be raised again. */
export const automationRetention = (db: Kysely<Tables>, days: number): RetentionRule[] => {
  const limit = sql<Date>`now() - ${days} * interval '1 day'`;
  return [
    {
      name: "firings",
      remove: () =>
        inBatches(async () => {
          // Agents outlive the records, and may wait for events: the limits of their automation still hold for them.
          const { rows } = await sql<{ count: string }>`
            with removed as (
              delete from automation_firings where id in (
                select id from automation_firings
                where decided_at < ${limit} and status <> 'planned' and planned_at < ${limit}
                limit ${batchSize} for update skip locked
              ) returning id, agent_id, automation_id, planned_at
            ), kept as (
              insert into automation_agents (agent_id, automation_id, firing_id, planned_at)
              select removed.agent_id, automation_id, removed.id, planned_at from removed
              join automations on automations.id = automation_id
              join agents on agents.id = removed.agent_id and agents.team_id = automations.team_id
                and agents.source = 'AUTOMATION'
              on conflict (agent_id) do nothing
            )
            select count(*) from removed
          `.execute(db);
          return Number(rows[0]?.count ?? 0);
        }),
    },
    {
      name: "alerts",
      remove: () =>
        inBatches(async () => {
          const { numAffectedRows = 0n } = await sql`
            delete from automation_alerts where id in (
              select id from automation_alerts as due
              where created_at < ${limit} and not exists (
                select from automation_firings as firing where firing.id = due.firing_id and firing.status = 'planned'
              )
              limit ${batchSize} for update skip locked
            )
          `.execute(db);
          return Number(numAffectedRows);
        }),
    },
    backtestRetention(db, limit),
    ...subscriptionRetention(db, limit),
  ];
};

/** With its firings: what its runs proposed stays with their agents. */
const backtestRetention = (db: Kysely<Tables>, limit: RawBuilder<Date>): RetentionRule => ({
  name: "back-tests",
  remove: () =>
    inBatches(async () => {
      const { numAffectedRows = 0n } = await sql`
        delete from automation_backtests where id in (
          select id from automation_backtests where created_at < ${limit} limit ${batchSize} for update skip locked
        )
      `.execute(db);
      return Number(numAffectedRows);
    }),
});

/** What was delivered is in the conversation of the agent. What waits stays. */
const subscriptionRetention = (db: Kysely<Tables>, limit: RawBuilder<Date>): RetentionRule[] => [
  {
    name: "events of subscriptions",
    remove: () =>
      inBatches(async () => {
        const { numAffectedRows = 0n } = await sql`
          delete from subscription_events where (subscription_id, event_id) in (
            select subscription_id, event_id from subscription_events
            where run_id is not null and created_at < ${limit}
            limit ${batchSize} for update skip locked
          )
        `.execute(db);
        return Number(numAffectedRows);
      }),
  },
  {
    name: "subscriptions",
    remove: () =>
      inBatches(async () => {
        const { numAffectedRows = 0n } = await sql`
          delete from subscriptions where id in (
            select id from subscriptions as ended
            where status <> 'active' and created_at < ${limit} and not exists (
              select from subscription_events where subscription_id = ended.id
            )
            limit ${batchSize} for update skip locked
          )
        `.execute(db);
        return Number(numAffectedRows);
      }),
  },
  // While failed checks are fixed, they tell the runs of fixes from the follow-ups of people.
  {
    name: "wake-ups",
    remove: () =>
      inBatches(async () => {
        const { numAffectedRows = 0n } = await sql`
          delete from wake_ups where id in (
            select id from wake_ups as due
            where created_at < ${limit} and not exists (select from subscription_events where batch_id = due.id)
              and not exists (
                select from subscriptions
                where agent_id = due.agent_id and status = 'active' and source = 'ci_fix'
              )
            limit ${batchSize} for update skip locked
          )
        `.execute(db);
        return Number(numAffectedRows);
      }),
  },
];
