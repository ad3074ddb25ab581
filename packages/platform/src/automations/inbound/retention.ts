// Removes events some time after they came, and what is known of pull requests beyond the newest of each source.
import { type Kysely, sql } from "kysely";
import { inBatches, type RetentionRule, type Tables } from "../../foundation/index.ts";

const batchSize = 200;
/** Longer than any host repeats a delivery. */
const days = 30;

export const inboundRetention = (db: Kysely<Tables>): RetentionRule[] => [
  eventRetention(db),
  pullRequestRetention(db),
  branchCheckRetention(db),
  mentionRetention(db),
];

const mentionRetention = (db: Kysely<Tables>): RetentionRule => ({
  name: "mentions",
  remove: () =>
    inBatches(async () => {
      const { numAffectedRows = 0n } = await sql`
        delete from mentions where id in (
          select id from mentions
          where status <> 'planned' and created_at < now() - ${days} * interval '1 day'
          limit ${batchSize} for update skip locked
        )
      `.execute(db);
      return Number(numAffectedRows);
    }),
});

/** Of a branch where no check has run for so long, nothing is known. */
const branchCheckRetention = (db: Kysely<Tables>): RetentionRule => ({
  name: "results of checks",
  remove: () =>
    inBatches(async () => {
      const { numAffectedRows = 0n } = await sql`
        delete from branch_checks where ctid in (
          select ctid from branch_checks where seen_at < now() - ${days} * interval '1 day'
          limit ${batchSize} for update skip locked
        )
      `.execute(db);
      return Number(numAffectedRows);
    }),
});

const eventRetention = (db: Kysely<Tables>): RetentionRule => ({
  name: "inbound events",
  remove: () =>
    inBatches(async () => {
      const { numAffectedRows = 0n } = await sql`
        delete from inbound_events where id in (
          select id from inbound_events
          where status <> 'received' and created_at < now() - ${days} * interval '1 day'
          limit ${batchSize} for update skip locked
        )
      `.execute(db);
      return Number(numAffectedRows);
    }),
});

/** Comments on older ones start nothing until another event says again whether they are of a fork. */
const maxPullRequests = 10_000;

const pullRequestRetention = (db: Kysely<Tables>): RetentionRule => ({
  name: "pull requests of events",
  remove: () =>
    inBatches(async () => {
      const { numAffectedRows = 0n } = await sql`
        delete from inbound_pull_requests where (source_id, url) in (
          select source_id, url from (
            select source_id, url, row_number() over (partition by source_id order by seen_at desc) as position
            from inbound_pull_requests
          ) as ranked where position > ${maxPullRequests} limit ${batchSize}
        )
      `.execute(db);
      return Number(numAffectedRows);
    }),
});
