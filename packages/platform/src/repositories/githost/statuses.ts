// Statuses that CI systems report on commits of hosted repositories. The latest of each context counts.
import type { Kysely } from "kysely";
import { ApiError, type CommitStatusTable, type Tables, type Vault } from "../../foundation/index.ts";
import { gitSucceeds } from "../git/index.ts";
import type { EventRecorder } from "./events.ts";
import type { HostedRepository } from "./hosted-repository.ts";
import { openDataKey } from "./pull-requests.ts";

export interface CommitStatus {
  context: string;
  state: CommitStatusTable["state"];
  description: string;
  targetUrl: string | null;
  author: string;
}

export interface StatusStore {
  /** Throws ApiError `validation_error` for a commit that the repository does not have. */
  report(commit: string, status: CommitStatus): Promise<void>;
  list(commit: string): Promise<(CommitStatus & { createdAt: Date })[]>;
}

export interface StatusOptions {
  db: Kysely<Tables>;
  vault: Vault;
  events: EventRecorder;
}

export function openStatuses(repository: HostedRepository, { db, vault, events }: StatusOptions): StatusStore {
  const dataKey = openDataKey(repository, { db, vault });
  const { id: repository_id, directory } = repository;
  const aadOf = (commit: string, context: string) => `commit_status:${repository_id}:${commit}:${context}`;
  return {
    async report(commit, { context, state, description, targetUrl, author }) {
      if (!(await gitSucceeds({ location: { directory }, args: ["cat-file", "-e", `${commit}^{commit}`] })))
        throw new ApiError("validation_error", `"${repository.name}" has no commit ${commit}. Push it first.`);
      const sealed = (await dataKey()).seal(description, aadOf(commit, context));
      const values = { state, description: sealed, target_url: targetUrl, author, created_at: new Date() };
      await db.transaction().execute(async (tx) => {
        await tx
          .insertInto("commit_statuses")
          .values({ repository_id, commit, context, ...values })
          .onConflict((conflict) => conflict.columns(["repository_id", "commit", "context"]).doUpdateSet(values))
          .execute();
        const more = { sha: commit, state, context, description, target_url: targetUrl };
        await events.record(tx, "status", {
          sender: author,
          more: { ...more, branches: await branchesAt(tx, commit) },
        });
      });
    },
    async list(commit) {
      const key = await dataKey();
      const rows = await db
        .selectFrom("commit_statuses")
        .selectAll()
        .where("repository_id", "=", repository_id)
        .where("commit", "=", commit)
        .orderBy("context")
        .execute();
      return rows.map(({ context, state, description, target_url, author, created_at }) => ({
        ...{ context, state, targetUrl: target_url, author, createdAt: created_at },
        description: key.openText(description, aadOf(commit, context)),
      }));
    },
  };

  /** Whose tip the commit is. */
  async function branchesAt(tx: Kysely<Tables>, commit: string): Promise<{ name: string }[]> {
    const query = tx.selectFrom("hosted_repositories").select("tips").where("id", "=", repository_id);
    const tips = (await query.executeTakeFirst())?.tips ?? {};
    return Object.entries(tips).flatMap(([name, tip]) => (tip === commit ? [{ name }] : []));
  }
}
