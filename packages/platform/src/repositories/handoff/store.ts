// The state of a hand-off: one row per agent and repository.
import { type Kysely, type Selectable, sql } from "kysely";
import type { DataKey, HandoffTable, Queries, Tables } from "../../foundation/index.ts";
import type { PushedWork } from "../workspaces/index.ts";
import { insertCheck, type NewCheck } from "./check-store.ts";
import type { ChangedLines } from "./count-lines.ts";
import type { HandedOffBranch } from "./handoff.ts";
import type { HeldBackFile } from "./held-back.ts";

export type HandoffRow = Selectable<HandoffTable>;

export type HandoffBeginning = Pick<
  HandoffRow,
  "agent_id" | "repo_url" | "run_id" | "branch" | "base_branch" | "base_commit"
>;

/** Returns the row of this run. A row of another run, or a failed one, is restarted; branch and pull request are kept. */
export async function beginHandoff(db: Kysely<Tables>, beginning: HandoffBeginning): Promise<HandoffRow> {
  const begun = await db
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
    .returningAll()
    .executeTakeFirst();
  if (begun) return begun;
  return db
    .selectFrom("handoffs")
    .selectAll()
    .where("agent_id", "=", beginning.agent_id)
    .where("repo_url", "=", beginning.repo_url)
    .executeTakeFirstOrThrow();
}

/** The results of a step are stored together with its state. */
export type HandoffStep =
  | ({ state: "committed"; head_commit: string | null; held_back: Buffer | null } & Partial<ChangedLines>)
  | { state: "pushed"; pushed_commit: string | null }
  | { state: "opened"; pr_url: string | null; body_digest: string | null }
  | {
      state: "done";
      pr_url?: string | null;
      body_digest?: string | null;
      announced_pr_url?: string | null;
      held_back?: Buffer | null;
    }
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

/**
 * Schedules a check for the pushed commit, in the same statement. It is published in the background, so that it cannot delay
 * or fail the hand-off. Null: the commit was pushed, and its check scheduled, before.
 */
export function pushedHandoff(db: Kysely<Tables>, row: HandoffRow, pushed: NewCheck | null): Promise<HandoffRow> {
  if (pushed === null) return moveHandoff(db, row, { state: "pushed", pushed_commit: row.head_commit });
  const { run_id, repo_url } = row;
  return db
    .with("checked", (tx) => insertCheck(tx, { run_id, repo_url, ...pushed }))
    .updateTable("handoffs")
    .set({ state: "pushed", pushed_commit: pushed.commit_name, updated_at: new Date() })
    .where("agent_id", "=", row.agent_id)
    .where("repo_url", "=", repo_url)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export type ReopenedHandoff = Pick<HandoffRow, "run_id" | "repo_url" | "branch" | "base_branch">;

/** Continues with the pull requests of what was pushed without any; those of the latest run first. */
export async function reopenHandoffs(db: Queries, agentId: string): Promise<ReopenedHandoff[]> {
  const rows = await db
    .updateTable("handoffs")
    .from("runs")
    .whereRef("runs.id", "=", "handoffs.run_id")
    // A commit whose push failed is pushed first: the pull request would tell of it otherwise, and not have it.
    .set({
      state: sql`case when head_commit is distinct from pushed_commit then 'committed' else 'pushed' end`,
      updated_at: new Date(),
    })
    .where("handoffs.agent_id", "=", agentId)
    // Pushed, or failed after that: an attempt that was interrupted is repeated.
    .where("state", "in", ["done", "pushed", "failed"])
    .where("pushed_commit", "is not", null)
    .where("pr_url", "is", null)
    .returning(["run_id", "repo_url", "branch", "base_branch", "runs.number"])
    .execute();
  return rows.sort((one, other) => other.number - one.number);
}

/** Branches of an agent, as returned by the API; the same for every run. `branch` is only set once it was pushed. */
export async function branchesOf(
  db: Queries,
  { agentId, key }: { agentId: string; key: DataKey },
): Promise<HandedOffBranch[]> {
  const rows = await db
    .selectFrom("handoffs")
    .selectAll()
    .where("agent_id", "=", agentId)
    .orderBy("repo_url")
    .execute();
  return rows.map((row) => shownBranch(row, key));
}

export function shownBranch(row: HandoffRow, key: DataKey): HandedOffBranch {
  const heldBack = openHeldBack(row, key);
  return {
    repoUrl: row.repo_url,
    ...(row.pushed_commit !== null && { branch: row.branch }),
    ...(row.pr_url !== null && { prUrl: row.pr_url }),
    ...(heldBack.length > 0 && { heldBack }),
  };
}

type HandoffId = Pick<HandoffRow, "agent_id" | "repo_url">;

const heldBackAad = ({ agent_id, repo_url }: HandoffId): string => `held-back:${agent_id}:${repo_url}`;

const maxHeldBack = 100;

/** Sealed: names of files say what a team works on. Null if there are none. */
export const sealHeldBack = (row: HandoffId, key: DataKey, files: HeldBackFile[]): Buffer | null =>
  files.length === 0 ? null : key.seal(JSON.stringify(files.slice(0, maxHeldBack)), heldBackAad(row));

export const openHeldBack = (row: HandoffRow, key: DataKey): HeldBackFile[] =>
  row.held_back === null ? [] : JSON.parse(key.openText(row.held_back, heldBackAad(row)));

export type HandedOffCommit = Pick<HandoffRow, "repo_url" | "base_branch"> & { commit: string };

/** Where each repository was after a run: what that run or an earlier one pushed last, else where the agent began. */
export async function commitsAfter(
  db: Queries,
  { agentId, runNumber }: { agentId: string; runNumber: number },
): Promise<HandedOffCommit[]> {
  const rows = await db.selectFrom("handoffs").selectAll().where("agent_id", "=", agentId).execute();
  const pushed = await db
    .selectFrom("handoff_checks")
    .innerJoin("runs", "runs.id", "handoff_checks.run_id")
    .select(["repo_url", "commit_name"])
    .where("runs.agent_id", "=", agentId)
    .where("runs.number", "<=", runNumber)
    .orderBy("runs.number", "desc")
    .execute();
  return rows.map(({ repo_url, base_branch, base_commit }) => ({
    ...{ repo_url, base_branch },
    commit: pushed.find((one) => one.repo_url === repo_url)?.commit_name ?? base_commit,
  }));
}

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
