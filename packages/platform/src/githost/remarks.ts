// What people say about a pull request: comments, on the whole or on a line, and reviews.
import type { Comment, Review } from "../scm/index.ts";
import type { DataKey } from "../vault/index.ts";
import { openSealing, placeOf, type StoreOptions } from "./pull-requests.ts";
import type { HostedRepository } from "./repositories.ts";

export type CommentRecord = Comment & { id: number; createdAt: Date };
export type ReviewRecord = Omit<Review, "comments"> & { id: number; createdAt: Date };

export interface RemarkStore {
  comment(number: number, comment: Comment): Promise<void>;
  /** Oldest first. */
  comments(number: number): Promise<CommentRecord[]>;
  /** Its comments are among those of the pull request. */
  review(number: number, review: Review): Promise<void>;
  reviews(number: number): Promise<ReviewRecord[]>;
}

export function openRemarks(repository: HostedRepository, { db, vault }: StoreOptions): RemarkStore {
  const sealing = openSealing(repository, { db, vault });
  const of = (number: number) => ({ repository_id: repository.id, pull_request: number });
  const commentPlace = (number: number) => placeOf(repository, number, "comment");
  const reviewPlace = (number: number) => placeOf(repository, number, "review");
  const addComments = async (number: number, comments: Comment[], tables = db): Promise<void> => {
    const rows = commentRows(comments, { of: of(number), key: await sealing(), place: commentPlace(number) });
    if (rows.length > 0) await tables.insertInto("pull_request_comments").values(rows).execute();
  };
  return {
    comment: (number, comment) => addComments(number, [comment]),
    async comments(number) {
      const key = await sealing();
      const rows = await db
        .selectFrom("pull_request_comments")
        .selectAll()
        .where("repository_id", "=", repository.id)
        .where("pull_request", "=", number)
        .orderBy("id")
        .execute();
      return rows.map(({ id, author, body, path, line, created_at }) => {
        const record = { id, author, body: key.openText(body, commentPlace(number)), createdAt: created_at };
        return path === null || line === null ? record : { ...record, path, line };
      });
    },
    async review(number, { author, verdict, body, comments = [] }) {
      const sealed = (await sealing()).seal(body, reviewPlace(number));
      await db.transaction().execute(async (tx) => {
        await tx
          .insertInto("pull_request_reviews")
          .values({ ...of(number), author, verdict, body: sealed })
          .execute();
        const remarks = comments.map((comment) => ({ ...comment, author }));
        await addComments(number, remarks, tx);
      });
    },
    async reviews(number) {
      const key = await sealing();
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
        body: key.openText(body, reviewPlace(number)),
        createdAt: created_at,
      }));
    },
  };
}

const commentRows = (comments: Comment[], { of, key, place }: Sealing) =>
  comments.map(({ author, body, path, ...where }) => ({
    ...of,
    author,
    body: key.seal(body, place),
    ...(path !== undefined && { path, ...where }),
  }));

interface Sealing {
  of: { repository_id: number; pull_request: number };
  key: DataKey;
  place: string;
}
