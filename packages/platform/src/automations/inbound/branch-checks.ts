// The latest result of each check on each branch, as events told it: a check that fails on the base is not the agent's fault.
import type { Queries } from "../../foundation/index.ts";
import type { SourceEvent } from "./github.ts";
import { isFailing } from "./judge-fix.ts";

export async function rememberCheck(tx: Queries, sourceId: string, event: SourceEvent): Promise<void> {
  const { repositoryUrl, branch, check, conclusion } = event;
  if (branch === null || check === null || conclusion === null) return;
  const seen = { is_failing: isFailing(conclusion), seen_at: new Date() };
  await tx
    .insertInto("branch_checks")
    .values({ source_id: sourceId, repository: repositoryUrl.toLowerCase(), branch, name: check, ...seen })
    .onConflict((conflict) => conflict.columns(["source_id", "repository", "branch", "name"]).doUpdateSet(seen))
    .execute();
}

export async function failsOnBase(
  tx: Queries,
  sourceId: string,
  { event, base }: { event: SourceEvent; base: string },
): Promise<boolean> {
  if (event.check === null) return false;
  const row = await tx
    .selectFrom("branch_checks")
    .select("is_failing")
    .where("source_id", "=", sourceId)
    .where("repository", "=", event.repositoryUrl.toLowerCase())
    .where("branch", "=", base)
    .where("name", "=", event.check)
    .executeTakeFirst();
  return row?.is_failing ?? false;
}
