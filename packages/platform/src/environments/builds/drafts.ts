// Draft builds that wait for a person: whose decision they are, and how they are discarded. Of two decisions the first counts.
import { ApiError, type Decider, type Queries } from "../../foundation/index.ts";
import type { BuildRow } from "../views.ts";

/** Builds that this user may make active. */
export const buildsOf = (db: Queries, { teamId, userId, isTeamManager }: Decider) =>
  db
    .selectFrom("environment_builds")
    .innerJoin("environments", "environments.id", "environment_builds.environment_id")
    .where("environments.team_id", "=", teamId)
    .where(({ or, eb }) =>
      or([eb("environments.user_id", "=", userId), ...(isTeamManager ? [eb("environments.user_id", "is", null)] : [])]),
    );

/**
 * Those of the operator only compare, and one that is older than the build that agents start from is outdated: they do not wait.
 */
export const draftsToDecide = (db: Queries, user: Decider) =>
  buildsOf(db, user)
    .leftJoin("environment_builds as active", "active.id", "environments.active_build_id")
    .where("environment_builds.draft", "=", true)
    .where("environment_builds.status", "=", "SUCCEEDED")
    .where("environment_builds.discarded_at", "is", null)
    .where("environment_builds.requested_by", "is not", null)
    .where(({ or, eb, ref }) =>
      or([eb("active.id", "is", null), eb("active.created_at", "<", ref("environment_builds.created_at"))]),
    );

/** Again is the same as once. Throws `build_not_draft` for one that does not wait, as when another person has activated it. */
export async function discardDraft(tx: Queries, { id }: BuildRow): Promise<void> {
  const now = new Date();
  const discarded = await tx
    .updateTable("environment_builds")
    .set(({ fn, val }) => ({ discarded_at: fn.coalesce("discarded_at", val(now)), updated_at: now }))
    .where("id", "=", id)
    .where("draft", "=", true)
    .where("status", "=", "SUCCEEDED")
    .returning("id")
    .executeTakeFirst();
  if (!discarded)
    throw new ApiError(
      "build_not_draft",
      `Build ${id} cannot be discarded: it is not a draft that has succeeded. Read it to see what became of it.`,
    );
}
