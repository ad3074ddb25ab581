// What runs in shadow mode have proposed and a person has not decided about: whether the automation may act.
import { sql } from "kysely";
import type { Decider, Queries } from "../../foundation/index.ts";

/** Firings of automations that this user may change. */
export const firingsOf = (db: Queries, { teamId, userId, isTeamManager }: Decider) =>
  db
    .selectFrom("automation_firings")
    .innerJoin("automations", "automations.id", "automation_firings.automation_id")
    .where("automations.team_id", "=", teamId)
    .where(({ or, eb }) =>
      or([
        eb("automations.user_id", "=", userId),
        ...(isTeamManager ? [eb("automations.scope", "=", "team_owned")] : []),
      ]),
    );

/**
 * Of each automation the last one that proposed something. A change of the automation decides: until then it is in shadow mode,
 * as it was when the run began.
 */
export const proposalsToDecide = (db: Queries, user: Decider) =>
  firingsOf(db, user)
    .where("automations.enabled", "=", true)
    .where("automation_firings.effects", "=", "shadow")
    .where("automation_firings.run_status", "=", "FINISHED")
    .whereRef("automation_firings.decided_at", ">=", "automations.updated_at")
    .where(hasProposals("automation_firings"))
    .where(sql<boolean>`not exists (
      select from automation_firings as later
      where later.automation_id = automation_firings.automation_id and later.effects = 'shadow'
        and later.run_status = 'FINISHED' and ${hasProposals("later")}
        and (later.created_at, later.id) > (automation_firings.created_at, automation_firings.id)
    )`);

const hasProposals = (firing: "automation_firings" | "later") => sql<boolean>`exists (
  select from automation_proposals as proposed
  where proposed.agent_id = ${sql.ref(`${firing}.agent_id`)} and proposed.run_id = ${sql.ref(`${firing}.run_id`)}
)`;

/** The tools of a firing, in the order of their first calls. */
export const proposedTools = sql<string[]>`array(
  select tool from automation_proposals as proposed
  where proposed.agent_id = automation_firings.agent_id and proposed.run_id = automation_firings.run_id
  group by tool order by min(position)
)`;

/** For a query about runs: this one only proposed, and is among what is to decide, or was. */
export const isProposingRun = sql<boolean>`exists (
  select from automation_firings as firing
  where firing.agent_id = runs.agent_id and firing.run_id = runs.id and firing.effects = 'shadow'
    and firing.run_status = 'FINISHED' and exists (
      select from automation_proposals as proposed
      where proposed.agent_id = runs.agent_id and proposed.run_id = runs.id
    )
)`;
