// The state of a hand-off: one row per agent and repository.
import type { Kysely, Selectable } from "kysely";
import type { HandoffTable, Queries, Tables } from "../../foundation/index.ts";
import type { PushedWork } from "../workspaces/index.ts";
import { addCheck } from "./check-store.ts";
import type { HandedOffBranch } from "./handoff.ts";

export type HandoffRow = Selectable<HandoffTable>;

export type HandoffBeginning = Pick<
  HandoffRow,
  "agent_id" | "repo_url" | "run_id" | "branch" | "base_branch" | "base_commit"
>;

/** Returns the row of this run. A row of another run, or a failed one, is restarted; branch and pull request are kept. */
export async function beginHandoff(db: Kysely<Tables>, beginning: HandoffBeginning): Promise<HandoffRow> {
  await db
    .insertInto("handoffs")
    .values({ ...beginning, state: "waiting" })
    .onConflict((conflict) =>
      conflict
        .columns(["agent_id", "repo_url"])
        .doUpdateSet({ run_id: beginning.run_id, state: "waiting", updated_at: new Date() })
        .where(({ eb, or }) =>
          or([eb("handoffs.run_id", "!=", beginning.run_id), eb("handoffs.state", "=", "failed")]),
        ),
    )
    .execute();
  return db
    .selectFrom("handoffs")
    .selectAll()
    .where("agent_id", "=", beginning.agent_id)
    .where("repo_url", "=", beginning.repo_url)
    .executeTakeFirstOrThrow();
}

/** The results of a step are stored together with its state. */
export type HandoffStep =
  | { state: "committed"; head_commit: string | null }
  | { state: "pushed"; pushed_commit: string }
  | { state: "opened"; pr_url: string | null }
  | { state: "done"; announced_pr_url?: string | null }
  | { state: "failed" };

export async function moveHandoff(db: Kysely<Tables>, row: HandoffRow, step: HandoffStep): Promise<HandoffRow> {
  return db
    .updateTable("handoffs")
    .set({ ...step, updated_at: new Date() })
    .where("agent_id", "=", row.agent_id)
    .where("repo_url", "=", row.repo_url)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Schedules a check for the pushed commit. It is published in the background, so that it cannot delay or fail the hand-off. */
export const pushedHandoff = (db: Kysely<Tables>, row: HandoffRow, commit: string): Promise<HandoffRow> =>
  db.transaction().execute(async (transaction) => {
    const { run_id, repo_url } = row;
    if (commit !== row.pushed_commit) await addCheck(transaction, { run_id, repo_url, commit_name: commit });
    return moveHandoff(transaction, row, { state: "pushed", pushed_commit: commit });
  });

/** Branches per agent, as returned by the API; the same for every run. `branch` is only set once it was pushed. */
export async function branchesOf(db: Queries, agentIds: string[]): Promise<Map<string, HandedOffBranch[]>> {
  const branches = new Map<string, HandedOffBranch[]>();
  if (agentIds.length === 0) return branches;
  const rows = await db
    .selectFrom("handoffs")
    .selectAll()
    .where("agent_id", "in", agentIds)
    .orderBy("repo_url")
    .execute();
  for (const row of rows) branches.set(row.agent_id, [...(branches.get(row.agent_id) ?? []), shownBranch(row)]);
  return branches;
}

export const shownBranch = (row: HandoffRow): HandedOffBranch => ({
  repoUrl: row.repo_url,
  ...(row.pushed_commit !== null && { branch: row.branch }),
  ...(row.pr_url !== null && { prUrl: row.pr_url }),
});

/** Null before the first push. */
export async function findPushed(
  db: Queries,
  { agentId, repoUrl }: { agentId: string; repoUrl: string },
): Promise<PushedWork | null> {
  const row = await db
    .selectFrom("handoffs")
    .select(["branch", "pushed_commit", "base_branch", "base_commit"])
    .where("agent_id", "=", agentId)
    .where("repo_url", "=", repoUrl)
    .executeTakeFirst();
  if (!row || row.pushed_commit === null) return null;
  const { branch, pushed_commit: commit, base_branch: baseBranch, base_commit: baseCommit } = row;
  return { branch, commit, baseBranch, baseCommit };
}
