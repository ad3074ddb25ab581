// Deletes agents that were not used for 90 days, in teams that keep conversations no longer: as if their owners had deleted them,
// with everything they own and the data key that it is encrypted with.
import { type Kysely, sql } from "kysely";
import type { RetentionRule, Tables } from "../foundation/index.ts";
import { type AgentDeletion, deleteAgentIf } from "./routes/archive.ts";

export const conversationRetention = (deletion: AgentDeletion): RetentionRule => ({
  name: "agents",
  async *remove() {
    const { db } = deletion.platform;
    for (let due = await findUnused(db); due.length > 0; due = await findUnused(db))
      for (const { id } of due) if (await deleteAgentIf(deletion, id, isUnused)) yield 1;
  },
});

/** Not while a run is active. Waiting for an event or a timer does not count as use. */
const isUnused = sql<boolean>`
  greatest(agents.updated_at, (select max(coalesce(ended_at, now())) from runs where runs.agent_id = agents.id))
    < now() - interval '90 days'
  and exists (
    select from team_settings as kept where kept.team_id = agents.team_id and kept.settings ->> 'retention' = '90_days'
  )`;

const batchSize = 100;

const findUnused = (db: Kysely<Tables>): Promise<{ id: string }[]> =>
  db.selectFrom("agents").select("id").where(isUnused).orderBy("updated_at").limit(batchSize).execute();
