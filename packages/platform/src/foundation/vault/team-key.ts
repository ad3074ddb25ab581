// The data key of a team: it seals what belongs to the team and to no agent.
import type { Queries } from "../db/index.ts";
import type { DataKey, Vault } from "./vault.ts";

export async function teamKey(db: Queries, vault: Vault, teamId: number): Promise<DataKey> {
  const team = await db.selectFrom("teams").select("data_key").where("id", "=", teamId).executeTakeFirstOrThrow();
  return vault.unwrap(team.data_key);
}
