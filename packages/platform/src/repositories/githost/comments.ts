// Comments on a pull request or on one of its lines, plus its reviews.
import type { DataKey } from "../../foundation/index.ts";
import type { Comment, Review } from "../scm/index.ts";
import { openDataKey, type StoreOptions, sealContext } from "./pull-requests.ts";
import type { HostedRepository } from "./repositories.ts";

export type CommentRecord = Comment & { id: number; createdAt: Date };
export type ReviewRecord = Omit<Review, "comments"> & { id: number; createdAt: Date };

export interface CommentStore {
  comment(number: number, comment: Comment): Promise<void>;
  /** Oldest first. */
  comments(number: number): Promise<CommentRecord[]>;
  /** The comments in it are also listed by `comments`. */
  review(number: number, review: Review): Promise<void>;
  reviews(number: number): Promise<ReviewRecord[]>;
}

export function openComments(repository: HostedRepository, { db, vault }: StoreOptions): CommentStore {
  const dataKey = openDataKey(repository, { db, vault });
  const keys = (number: number) => ({ repository_id: repository.id, pull_request: number });
  const commentContext = (number: number) => sealContext(repository, number, "comment");
  const reviewContext = (number: number) => sealContext(repository, number, "review");
  const addComments = async (number: number, comments: Comment[], tables = db): Promise<void> => {
    const rows = commentRows(comments, { keys: keys(number), key: await dataKey(), context: commentContext(number) });
    if (rows.length > 0) await tables.insertInto("pull_request_comments").values(rows).execute();
  };
  return {
    comment: (number, comment) => addComments(number, [comment]),
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
    async review(number, { author, verdict, body, comments = [] }) {
      const sealed = (await dataKey()).seal(body, reviewContext(number));
      await db.transaction().execute(async (tx) => {
        await tx
          .insertInto("pull_request_reviews")
          .values({ ...keys(number), author, verdict, body: sealed })
          .execute();
        const reviewComments = comments.map((comment) => ({ ...comment, author }));
        await addComments(number, reviewComments, tx);
      });
    },
    async reviews(number) {
      const key = await dataKey();
      const rows = await db
        .selectFrom("pull_request_reviews")
        .selectAll()
        .where("repository_id", "=", repository.id)
        .where("pull_request", "=", number)
        .orderBy("id")
        .execute();
      return rows.map(({ id, author, verdict, body, created_at }) => ({
        id,
        author,
        verdict,
        body: key.openText(body, reviewContext(number)),
        createdAt: created_at,
      }));
    },
  };
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
