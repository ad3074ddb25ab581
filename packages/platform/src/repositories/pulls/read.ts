// A pull request as the API shows it.
import type { PullRequestDetails, PullRequestDiff, PullRequestEntry, PullRequestPage } from "@agentcli/protocol/api";
import type { Queries } from "../../foundation/index.ts";
import { type GitHost, type HostedRepository, headCommit, type PullRequestRecord, readDiff } from "../githost/index.ts";
import { capPatch } from "../handoff/index.ts";
import { readAuthors } from "./authors.ts";

export interface PullHost {
  db: Queries;
  host: GitHost;
}

export async function readPage(
  { db, host }: PullHost,
  repository: HostedRepository,
  { limit, before }: { limit: number; before?: number | undefined },
): Promise<PullRequestPage> {
  const found = await host.pullRequests(repository).list({ limit: limit + 1, ...(before !== undefined && { before }) });
  const shown = found.slice(0, limit);
  const authorOf = await readAuthors(
    db,
    repository.teamId,
    shown.map(({ author }) => author),
  );
  const items = shown.map((pull) => entryOf({ ...pull, author: authorOf(pull.author) }));
  const last = items.at(-1);
  return { items, ...(found.length > limit && last && { nextBefore: last.number }) };
}

export async function readDetails(
  { db, host }: PullHost,
  repository: HostedRepository,
  pull: PullRequestRecord,
): Promise<PullRequestDetails> {
  const { number } = pull;
  const store = host.commentStore(repository);
  const { labels, statuses } = host.marks(repository);
  const head = await headCommit(repository, pull);
  const checks = head === undefined ? [] : await statuses.list(head);
  const [comments, reviews] = await Promise.all([store.comments(number), store.reviews(number)]);
  const writers = [pull, ...comments, ...reviews].map(({ author }) => author);
  const authorOf = await readAuthors(db, repository.teamId, writers);
  const named = <Record extends { author: string; createdAt: Date }>(record: Record) =>
    dated({ ...record, author: authorOf(record.author) });
  return {
    ...entryOf({ ...pull, author: authorOf(pull.author) }),
    url: host.pullRequestUrl(repository.name, number),
    body: pull.body,
    labels: await labels.list(number),
    ...(head !== undefined && { headCommit: head }),
    checks: checks.map(({ author: _, ...check }) => dated(check)),
    comments: comments.map(named),
    reviews: reviews.map(named),
  };
}

export async function readPatch(repository: HostedRepository, pull: PullRequestRecord): Promise<PullRequestDiff> {
  const whole = Buffer.from(await readDiff(repository, { pull }));
  const beginning = capPatch(whole);
  return {
    patch: beginning.toString("utf8"),
    truncated: beginning.length < whole.length,
    patchBytes: whole.length,
  };
}

const entryOf = (pull: PullRequestRecord): PullRequestEntry => {
  const { number, title, state, isDraft, head, base, author, createdAt, updatedAt } = pull;
  return {
    ...{ number, title, head, base, author },
    state: state === "open" && isDraft ? "draft" : state,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
};

const dated = <Record extends { createdAt: Date }>(record: Record) => ({
  ...record,
  createdAt: record.createdAt.toISOString(),
});
