// Checks to publish on pushed commits: one row per run and repository, until the result of the run is published.
import type { Kysely, QueryCreator, Selectable } from "kysely";
import type { HandoffCheckTable, Tables } from "../../foundation/index.ts";

export type CheckRow = Selectable<HandoffCheckTable>;

/** `ended`: nothing will be shown on the commit, such as on the embedded host, which has no checks of runs. */
export type NewCheck = Pick<CheckRow, "commit_name"> & { state: "wanted" | "ended" };

export const insertCheck = (db: QueryCreator<Tables>, check: NewCheck & Pick<CheckRow, "run_id" | "repo_url">) =>
  db
    .insertInto("handoff_checks")
    .values(check)
    .onConflict((conflict) => conflict.doNothing());

/** How long a server owns a claimed check. After that, the server is assumed dead and another one may claim it. */
const claimMs = 5 * 60_000;

/** Claims one check that is due now; undefined if there is none. */
export async function claimDueCheck(db: Kysely<Tables>): Promise<CheckRow | undefined> {
  const due = db
    .selectFrom("handoff_checks")
    .innerJoin("runs", "runs.id", "handoff_checks.run_id")
    .select(["handoff_checks.run_id", "repo_url"])
    .where("state", "!=", "ended")
    .where("due_at", "<=", new Date())
    .where(({ eb, or }) => or([eb("state", "=", "wanted"), eb("runs.status", "not in", ["CREATING", "RUNNING"])]))
    .orderBy("due_at")
    .limit(1)
    .forUpdate("handoff_checks")
    .skipLocked();
  return db
    .updateTable("handoff_checks")
    .from(due.as("due"))
    .set({ due_at: new Date(Date.now() + claimMs) })
    .whereRef("handoff_checks.run_id", "=", "due.run_id")
    .whereRef("handoff_checks.repo_url", "=", "due.repo_url")
    .returningAll("handoff_checks")
    .executeTakeFirst();
}

export type CheckChange = Pick<CheckRow, "state" | "attempts" | "due_at">;

export async function changeCheck(
  db: Kysely<Tables>,
  { run_id, repo_url }: CheckRow,
  change: CheckChange,
): Promise<void> {
  const query = db.updateTable("handoff_checks").set(change).where("run_id", "=", run_id);
  await query.where("repo_url", "=", repo_url).execute();
}
