// Which automation has started which agent: by the firings, and for older agents by what is left of them.
import { sql } from "kysely";
import type { CauseLink, Queries } from "../foundation/index.ts";

/** Firings outlive their agents, whose ids are free again then: callers compare the team. */
export const startedAgents = (db: Queries) =>
  db
    .selectFrom("automation_firings")
    .select(["agent_id", "automation_id", "id as firing_id", "causes"])
    .unionAll(
      db
        .selectFrom("automation_agents")
        .select(["agent_id", "automation_id", "firing_id", sql<CauseLink[] | null>`null::jsonb`.as("causes")]),
    )
    .as("started");
