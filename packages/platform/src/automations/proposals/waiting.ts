// What runs in shadow mode have proposed and a person has not decided about: whether the automation may act.
import { type ExpressionBuilder, sql } from "kysely";
import type { Decider, Queries, Tables } from "../../foundation/index.ts";

const isOf =
  ({ userId, isTeamManager }: Decider) =>
  ({ or, eb }: ExpressionBuilder<Tables, "automations">) =>
    or([
      eb("automations.user_id", "=", userId),
      ...(isTeamManager ? [eb("automations.scope", "=", "team_owned")] : []),
    ]);

/** Firings of automations that this user may change. */
export const firingsOf = (db: Queries, user: Decider) =>
  db
    .selectFrom("automations")
    .innerJoin("automation_firings", "automation_firings.automation_id", "automations.id")
    .where("automations.team_id", "=", user.teamId)
    .where(isOf(user));

/**
 * Of each automation the last firing that proposed something. A change of the automation decides: until then it is in shadow
 * mode, as it was when the run began.
 */
export const proposalsToDecide = (db: Queries, user: Decider) =>
  db
    .selectFrom("automations")
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom("automation_firings")
          .select(["automation_firings.id", "automation_firings.agent_id", "automation_firings.run_id"])
          .whereRef("automation_firings.automation_id", "=", "automations.id")
          .where("automation_firings.effects", "=", "shadow")
          .where("automation_firings.run_status", "=", "FINISHED")
          .whereRef("automation_firings.decided_at", ">=", "automations.updated_at")
          .where(hasProposals)
          .orderBy("automation_firings.created_at", "desc")
          .limit(1)
          .as("automation_firings"),
      (join) => join.onTrue(),
    )
    .where("automations.team_id", "=", user.teamId)
    .where("automations.enabled", "=", true)
    .where(isOf(user));

const hasProposals = sql<boolean>`exists (
  select from automation_proposals as proposed
  where proposed.agent_id = automation_firings.agent_id and proposed.run_id = automation_firings.run_id
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
