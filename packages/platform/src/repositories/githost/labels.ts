// Labels of pull requests. An event is recorded for each label that was added or removed, and none where nothing changed.
import type { Kysely } from "kysely";
import type { Tables } from "../../foundation/index.ts";
import type { EventRecorder } from "./events.ts";
import type { HostedRepository } from "./hosted-repository.ts";
import type { PullRequestRecord } from "./pull-requests.ts";

export interface LabelStore {
  /** In alphabetical order. */
  list(number: number): Promise<string[]>;
  add(pull: PullRequestRecord, name: string, actor: string): Promise<void>;
  remove(pull: PullRequestRecord, name: string, actor: string): Promise<void>;
}

export interface LabelOptions {
  db: Kysely<Tables>;
  events: EventRecorder;
}

export function openLabels({ id: repository_id }: HostedRepository, { db, events }: LabelOptions): LabelStore {
  const change = (
    { pull, name, actor }: { pull: PullRequestRecord; name: string; actor: string },
    { action, write }: { action: string; write(tx: Kysely<Tables>): Promise<boolean> },
  ) =>
    db.transaction().execute(async (tx) => {
      if (!(await write(tx))) return;
      const described = await events.describe(tx, pull);
      const more = { action, number: pull.number, label: { name }, ...described };
      await events.record(tx, "pull_request", { sender: actor, more });
    });
  return {
    async list(number) {
      const rows = await db
        .selectFrom("pull_request_labels")
        .select("name")
        .where("repository_id", "=", repository_id)
        .where("pull_request", "=", number)
        .orderBy("name")
        .execute();
      return rows.map(({ name }) => name);
    },
    add: (pull, name, actor) =>
      change(
        { pull, name, actor },
        {
          action: "labeled",
          async write(tx) {
            const values = { repository_id, pull_request: pull.number, name, author: actor };
            const query = tx.insertInto("pull_request_labels").values(values);
            const written = await query.onConflict((conflict) => conflict.doNothing()).executeTakeFirst();
            return (written.numInsertedOrUpdatedRows ?? 0n) > 0n;
          },
        },
      ),
    remove: (pull, name, actor) =>
      change(
        { pull, name, actor },
        {
          action: "unlabeled",
          async write(tx) {
            const written = await tx
              .deleteFrom("pull_request_labels")
              .where("repository_id", "=", repository_id)
              .where("pull_request", "=", pull.number)
              .where("name", "=", name)
              .executeTakeFirst();
            return written.numDeletedRows > 0n;
          },
        },
      ),
  };
}
