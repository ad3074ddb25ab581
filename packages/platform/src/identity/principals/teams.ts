// Team data that other subjects read.
import type { SpendLimit } from "@agentcli/protocol/api";
import { sql } from "kysely";
import { ApiError, type FollowUps, type Queries } from "../../foundation/index.ts";

export const teamName = async (db: Queries, teamId: number): Promise<string | undefined> =>
  (await db.selectFrom("teams").select("name").where("id", "=", teamId).executeTakeFirst())?.name;

/** From whom agents of the team accept follow-ups. */
export const followUpsOf = async (db: Queries, teamId: number): Promise<FollowUps> =>
  (await db.selectFrom("teams").select("follow_ups").where("id", "=", teamId).executeTakeFirstOrThrow()).follow_ups;

export async function setFollowUps(db: Queries, teamId: number, follow_ups: FollowUps): Promise<void> {
  await db.updateTable("teams").set({ follow_ups }).where("id", "=", teamId).execute();
}

/** Null if neither an administrator nor the operator has chosen one. */
export async function spendLimitOf(db: Queries, teamId: number): Promise<SpendLimit | null> {
  const { usd, by } = await readSpendLimit(db, teamId);
  return usd === null && by === null ? null : { monthlyUsd: usd };
}

/** By an administrator of the team, in a transaction. What the operator has limited stays limited. */
export async function chooseSpendLimit(tx: Queries, teamId: number, { monthlyUsd }: SpendLimit): Promise<void> {
  // The operator may be setting it: what they set is read once they have.
  await tx.selectFrom("teams").select("id").where("id", "=", teamId).forNoKeyUpdate().execute();
  const { usd, by } = await readSpendLimit(tx, teamId);
  if (usd === monthlyUsd && by !== null) return;
  if (usd !== null && by === "operator")
    throw new ApiError(
      "forbidden",
      "spendLimit: the operator of the platform has set it. Ask them to change it (platform teams set).",
    );
  await setSpendLimit(tx, teamId, { monthlyUsd, by: "team" });
}

interface ChosenLimit extends SpendLimit {
  by: "team" | "operator";
}

export async function setSpendLimit(tx: Queries, teamId: number, { monthlyUsd, by }: ChosenLimit): Promise<void> {
  const spend_limit_usd = monthlyUsd === null ? null : String(monthlyUsd);
  await tx.updateTable("teams").set({ spend_limit_usd }).where("id", "=", teamId).execute();
  const settings = sql<string>`team_settings.settings || excluded.settings`;
  await tx
    .insertInto("team_settings")
    .values({ team_id: teamId, settings: JSON.stringify({ spendLimitBy: by }) })
    .onConflict((conflict) => conflict.column("team_id").doUpdateSet({ settings, updated_at: sql<Date>`now()` }))
    .execute();
}

async function readSpendLimit(db: Queries, teamId: number) {
  const { limit, settings } = await db
    .selectFrom("teams")
    .leftJoin("team_settings", "team_id", "teams.id")
    .select(["spend_limit_usd as limit", "settings"])
    .where("teams.id", "=", teamId)
    .executeTakeFirstOrThrow();
  // A limit from before it was noted who sets it is the operator's.
  const by = settings?.spendLimitBy ?? (limit === null ? null : "operator");
  return { usd: limit === null ? null : Number(limit), by };
}
