// Team data that other subjects read.
import type { FollowUps, Queries } from "../../foundation/index.ts";

export const teamName = async (db: Queries, teamId: number): Promise<string | undefined> =>
  (await db.selectFrom("teams").select("name").where("id", "=", teamId).executeTakeFirst())?.name;

/** From whom agents of the team accept follow-ups. */
export const followUpsOf = async (db: Queries, teamId: number): Promise<FollowUps> =>
  (await db.selectFrom("teams").select("follow_ups").where("id", "=", teamId).executeTakeFirstOrThrow()).follow_ups;

export async function setFollowUps(db: Queries, teamId: number, follow_ups: FollowUps): Promise<void> {
  await db.updateTable("teams").set({ follow_ups }).where("id", "=", teamId).execute();
}
