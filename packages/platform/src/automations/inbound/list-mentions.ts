// Mentions as people see them: what became of each, and why not.
import type { Mention } from "@agentcli/protocol/api";
import { type Selectable, sql } from "kysely";
import type { MentionTable, Position, Queries } from "../../foundation/index.ts";

type MentionRow = Selectable<MentionTable>;

export interface MentionFilter {
  teamId: number;
  /** Only those of this user; null: all of the team. */
  userId: number | null;
  status: Mention["status"] | undefined;
}

/** Newest first; one more than the limit where there is a next page. */
export function listMentions(
  db: Queries,
  { teamId, userId, status }: MentionFilter,
  { limit, after }: { limit: number; after: Position | null },
): Promise<MentionRow[]> {
  let query = db
    .selectFrom("mentions")
    .selectAll()
    .where("team_id", "=", teamId)
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(limit + 1);
  // One that was refused is of no user yet; the embedded host names its users so.
  if (userId !== null)
    query = query.where(({ or, eb }) => or([eb("user_id", "=", userId), eb("sender", "=", `user:${userId}`)]));
  if (status !== undefined) query = query.where("status", "=", status);
  if (after) query = query.where(sql<boolean>`(created_at, id) < (${after.createdAt}, ${after.id})`);
  return query.execute();
}

export const mentionOf = (row: MentionRow): Mention => ({
  id: row.id,
  status: row.status,
  ...(row.reason !== null && { reason: row.reason }),
  sender: row.sender,
  repository: row.repo_url,
  kind: row.kind,
  number: row.number,
  ...(row.run_id !== null && row.agent_id !== null && { agentId: row.agent_id, runId: row.run_id }),
  createdAt: row.created_at.toISOString(),
});
