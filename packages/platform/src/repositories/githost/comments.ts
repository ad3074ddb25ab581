// Comments on a pull request or on one of its lines, plus its reviews.
import type { Kysely } from "kysely";
import { type DataKey, recordAuditEvent, type Tables } from "../../foundation/index.ts";
import type { Comment, Review } from "../scm/index.ts";
import type { EventRecorder } from "./events.ts";
import type { HostedRepository } from "./hosted-repository.ts";
import { openDataKey, type PullRequestRecord, type StoreOptions, sealContext } from "./pull-requests.ts";

export type CommentRecord = Comment & { id: number; createdAt: Date };
export type ReviewRecord = Omit<Review, "comments" | "verdict"> & {
  id: number;
  verdict: Review["verdict"] | "dismissed";
  createdAt: Date;
};

export interface CommentStore {
  comment(pull: PullRequestRecord, comment: Comment): Promise<void>;
  /** Oldest first. */
  comments(number: number): Promise<CommentRecord[]>;
  /** The comments in it are also listed by `comments`. */
  review(pull: PullRequestRecord, review: Review): Promise<void>;
  reviews(number: number): Promise<ReviewRecord[]>;
  /** Verdicts of this author count no more; how many there were. */
  dismiss(number: number, author: string): Promise<number>;
}

export interface CommentOptions extends StoreOptions {
  events: EventRecorder;
}

export function openComments(repository: HostedRepository, { db, vault, events }: CommentOptions): CommentStore {
  const dataKey = openDataKey(repository, { db, vault });
  const keys = (number: number) => ({ repository_id: repository.id, pull_request: number });
  const commentContext = (number: number) => sealContext(repository, number, "comment");
  const reviewContext = (number: number) => sealContext(repository, number, "review");
  const addComments = async (pull: PullRequestRecord, comments: Comment[], tx: Kysely<Tables>): Promise<void> => {
    const { number } = pull;
    const rows = commentRows(comments, { keys: keys(number), key: await dataKey(), context: commentContext(number) });
    if (rows.length > 0) await insertComments({ tx, events, pull }, rows, comments);
  };
  const audit = (tx: Kysely<Tables>, action: string, { number }: PullRequestRecord) =>
    recordAuditEvent(tx, { action, subject: `${repository.id}/${number}`, data: {} });
  return {
    comment: (pull, comment) =>
      db.transaction().execute(async (tx) => {
        await addComments(pull, [comment], tx);
        await audit(tx, "pull_request.commented", pull);
      }),
    async comments(number) {
      const key = await dataKey();
      const rows = await db
        .selectFrom("pull_request_comments")
        .selectAll()
        .where("repository_id", "=", repository.id)
        .where("pull_request", "=", number)
        .orderBy("id")
        .execute();
      return rows.map(({ id, author, body, path, line, created_at }) => {
        const record = { id, author, body: key.openText(body, commentContext(number)), createdAt: created_at };
        return path === null || line === null ? record : { ...record, path, line };
      });
    },
    async review(pull, { author, verdict, body, comments = [] }) {
      const { number } = pull;
      const sealed = (await dataKey()).seal(body, reviewContext(number));
      await db.transaction().execute(async (tx) => {
        await tx
          .insertInto("pull_request_reviews")
          .values({ ...keys(number), author, verdict, body: sealed })
          .execute();
        await recordReview({ tx, events, pull }, { author, verdict, body });
        const ofReview = comments.map((comment) => ({ ...comment, author }));
        await addComments(pull, ofReview, tx);
        await audit(tx, "pull_request.reviewed", pull);
      });
    },
    dismiss: (number, author) => dismissReviews(db, { ...keys(number), author }),
    async reviews(number) {
      const key = await dataKey();
      const rows = await selectReviews(db, keys(number));
      return rows.map(({ id, author, verdict, body, created_at }) => ({
        ...{ id, author, verdict, createdAt: created_at },
        body: key.openText(body, reviewContext(number)),
      }));
    },
  };
}

const selectReviews = (db: Kysely<Tables>, { repository_id, pull_request }: CommentRowOptions["keys"]) =>
  db
    .selectFrom("pull_request_reviews")
    .selectAll()
    .where("repository_id", "=", repository_id)
    .where("pull_request", "=", pull_request)
    .orderBy("id")
    .execute();

async function dismissReviews(
  db: Kysely<Tables>,
  { repository_id, pull_request, author }: CommentRowOptions["keys"] & { author: string },
): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable("pull_request_reviews")
    .set({ verdict: "dismissed" })
    .where("repository_id", "=", repository_id)
    .where("pull_request", "=", pull_request)
    .where("author", "=", author)
    .where("verdict", "in", ["approved", "changes_requested"])
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

interface CommentContext {
  tx: Kysely<Tables>;
  events: EventRecorder;
  pull: PullRequestRecord;
}

async function insertComments(
  context: CommentContext,
  rows: ReturnType<typeof commentRows>,
  comments: Comment[],
): Promise<void> {
  const added = await context.tx.insertInto("pull_request_comments").values(rows).returning("id").execute();
  for (const [index, comment] of comments.entries())
    await recordComment(context, { ...comment, id: added[index]?.id ?? 0 });
}

async function recordReview(
  { tx, events, pull }: CommentContext,
  { author, verdict, body }: Pick<Review, "author" | "verdict" | "body">,
): Promise<void> {
  const described = await events.describe(tx, pull);
  const review = { state: verdict, body, user: { login: author } };
  await events.record(tx, "pull_request_review", {
    ...{ sender: author, more: { action: "submitted", review, ...described } },
  });
}

/** On a line it is one of a review, as on GitHub. */
async function recordComment(
  { tx, events, pull }: CommentContext,
  { id, author, body, ...position }: Comment & { id: number },
): Promise<void> {
  const comment = { id, body, user: { login: author }, ...position };
  if (position.path === undefined)
    return events.record(tx, "issue_comment", {
      ...{ sender: author, more: { action: "created", comment, ...events.issueOf(pull) } },
    });
  const described = await events.describe(tx, pull);
  await events.record(tx, "pull_request_review_comment", {
    ...{ sender: author, more: { action: "created", comment, ...described } },
  });
}

const commentRows = (comments: Comment[], { keys, key, context }: CommentRowOptions) =>
  comments.map(({ author, body, path, ...position }) => ({
    ...keys,
    author,
    body: key.seal(body, context),
    ...(path !== undefined && { path, ...position }),
  }));

interface CommentRowOptions {
  keys: { repository_id: number; pull_request: number };
  key: DataKey;
  context: string;
}
