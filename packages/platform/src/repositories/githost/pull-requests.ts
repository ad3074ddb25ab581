// Records of the pull requests of hosted repositories. Text written by users is sealed.
import type { Kysely, Selectable } from "kysely";
import {
  ApiError,
  type DataKey,
  type PullRequestTable,
  type Queries,
  recordAuditEvent,
  type Tables,
  teamKey,
  type Vault,
} from "../../foundation/index.ts";
import {
  branchTip,
  findMissingBranch,
  haveCommonHistory,
  type PullRequestBranchNames,
  rememberHeads,
} from "./changes.ts";
import type { EventRecorder } from "./events.ts";
import type { HostedRepository } from "./hosted-repository.ts";

export interface PullRequestRecord {
  number: number;
  title: string;
  body: string;
  head: string;
  base: string;
  state: "open" | "closed" | "merged";
  isDraft: boolean;
  author: string;
  createdAt: Date;
  updatedAt: Date;
}

export interface NewPullRequest {
  title: string;
  body: string;
  head: string;
  base: string;
  isDraft: boolean;
  author: string;
  /** A commit that the head is known to descend from. */
  since?: string | undefined;
}

export type PullRequestChange = Partial<Pick<PullRequestRecord, "title" | "body" | "isDraft" | "state">>;

export interface PullRequestStore {
  /** Newest first. */
  list(page?: { limit: number; before?: number }): Promise<PullRequestRecord[]>;
  /** Throws ApiError if there is no pull request with that number. */
  read(number: number, tx?: Queries): Promise<PullRequestRecord>;
  findOpen(branches: { head: string; base: string }): Promise<PullRequestRecord | undefined>;
  /** Returns the existing pull request if one is open for these branches. */
  open(pull: NewPullRequest): Promise<PullRequestRecord>;
  /** All that are open; without their texts, of which there may be many. */
  listOpen(): Promise<PullRequestBranchNames[]>;
  change(number: number, change: PullRequestChange, actor: string): Promise<PullRequestRecord>;
}

export interface StoreOptions {
  db: Kysely<Tables>;
  vault: Vault;
}

export interface PullRequestOptions extends StoreOptions {
  events: EventRecorder;
}

export function openPullRequests(
  repository: HostedRepository,
  { db, vault, events }: PullRequestOptions,
): PullRequestStore {
  const dataKey = openDataKey(repository, { db, vault });
  const select = () => db.selectFrom("pull_requests").selectAll().where("repository_id", "=", repository.id);
  const selectOne = (tx: Queries, number: number) =>
    tx.selectFrom("pull_requests").selectAll().where("repository_id", "=", repository.id).where("number", "=", number);
  const notFound = (number: number) =>
    new ApiError("pull_request_not_found", `"${repository.name}" has no pull request ${number}.`);

  async function read(number: number, tx: Queries = db): Promise<PullRequestRecord> {
    const row = await selectOne(tx, number).executeTakeFirst();
    if (row === undefined) throw notFound(number);
    return recordOf(row, tx === db ? await dataKey() : await teamKey(tx, vault, repository.teamId));
  }

  async function findOpen({ head, base }: { head: string; base: string }): Promise<PullRequestRecord | undefined> {
    const query = select().where("state", "=", "open").where("head_branch", "=", head).where("base_branch", "=", base);
    const row = await query.executeTakeFirst();
    return row && recordOf(row, await dataKey());
  }

  return {
    async list({ limit, before } = { limit: Number.MAX_SAFE_INTEGER }) {
      const key = await dataKey();
      const query = before === undefined ? select() : select().where("number", "<", before);
      return (await query.orderBy("number", "desc").limit(limit).execute()).map((row) => recordOf(row, key));
    },
    findOpen,
    listOpen: () => listOpen(db, repository),
    read,
    async open(pull) {
      await checkBranches(repository, pull);
      const opened = (await insertPull(repository, pull, { db, vault, events })) ?? (await findOpen(pull));
      if (opened === undefined)
        throw new ApiError("pull_request_conflict", "The pull request was closed in the meantime. Try again.");
      await rememberHeads(repository, [opened]);
      return opened;
    },
    async change(number, change, actor) {
      const target = { repository, number, key: await dataKey() };
      return db.transaction().execute(async (tx) => {
        const former = await selectOne(tx, number).forUpdate().executeTakeFirst();
        if (former === undefined) throw notFound(number);
        if (former.state === "merged" && (change.state ?? "merged") !== "merged")
          throw new ApiError("pull_request_conflict", `Pull request ${number} is already merged.`);
        const row = await updatePull(tx, target, change);
        const changed = recordOf(row, target.key);
        for (const action of actionsOf(former, row)) {
          const described = await events.describe(tx, changed);
          await events.record(tx, "pull_request", { sender: actor, more: { action, number, ...described } });
        }
        return changed;
      });
    },
  };
}

const listOpen = (db: Queries, { id }: HostedRepository): Promise<PullRequestBranchNames[]> =>
  db
    .selectFrom("pull_requests")
    .select(["number", "head_branch as head", "base_branch as base"])
    .where("repository_id", "=", id)
    .where("state", "=", "open")
    .execute();

async function updatePull(
  tx: Kysely<Tables>,
  { repository, number, key }: { repository: HostedRepository; number: number; key: DataKey },
  change: PullRequestChange,
): Promise<Selectable<PullRequestTable>> {
  const { title, body, isDraft, state } = change;
  const subject = `${repository.id}/${number}`;
  const fields = Object.keys(change).sort().join(" ");
  await recordAuditEvent(tx, { action: "pull_request.changed", subject, data: { fields } });
  return tx
    .updateTable("pull_requests")
    .set({
      ...(title !== undefined && { title: key.seal(title, sealContext(repository, number, "title")) }),
      ...(body !== undefined && { body: key.seal(body, sealContext(repository, number, "body")) }),
      ...(isDraft !== undefined && { draft: isDraft }),
      ...(state !== undefined && { state }),
      updated_at: new Date(),
    })
    .where("repository_id", "=", repository.id)
    .where("number", "=", number)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** As GitHub names what happened; a new title or text starts nothing. */
function actionsOf(former: Selectable<PullRequestTable>, current: Selectable<PullRequestTable>): string[] {
  const actions = former.draft && !current.draft ? ["ready_for_review"] : [];
  if (!former.draft && current.draft) actions.push("converted_to_draft");
  if (former.state !== current.state) actions.push(current.state === "open" ? "reopened" : "closed");
  return actions;
}

/** Undefined if another request has just opened one for these branches. */
function insertPull(
  repository: HostedRepository,
  pull: NewPullRequest,
  { db, vault, events }: PullRequestOptions,
): Promise<PullRequestRecord | undefined> {
  return db.transaction().execute(async (transaction) => {
    // Serializes the numbering: concurrent inserts wait for this lock.
    const { tips, data_key } = await transaction
      .selectFrom("hosted_repositories")
      .innerJoin("teams", "teams.id", "hosted_repositories.team_id")
      .select(["tips", "data_key"])
      .where("hosted_repositories.id", "=", repository.id)
      .forUpdate("hosted_repositories")
      .executeTakeFirstOrThrow();
    const key = await vault.unwrap(data_key);
    const last = await transaction
      .selectFrom("pull_requests")
      .select(({ fn }) => fn.max("number").as("number"))
      .where("repository_id", "=", repository.id)
      .executeTakeFirst();
    const number = (last?.number ?? 0) + 1;
    const row = await transaction
      .insertInto("pull_requests")
      .values({
        repository_id: repository.id,
        number,
        title: key.seal(pull.title, sealContext(repository, number, "title")),
        body: key.seal(pull.body, sealContext(repository, number, "body")),
        head_branch: pull.head,
        base_branch: pull.base,
        state: "open",
        draft: pull.isDraft,
        author: pull.author,
      })
      .onConflict((conflict) => conflict.doNothing())
      .returningAll()
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const described = events.describeAt({ ...pull, number, state: "open" }, { tips, labels: [] });
    const more = { action: "opened", number, ...described };
    await events.record(transaction, "pull_request", { sender: pull.author, more });
    return recordOf(row, key);
  });
}

/** The data key of the team, unwrapped on first use. */
export function openDataKey({ teamId }: HostedRepository, { db, vault }: StoreOptions): () => Promise<DataKey> {
  let unwrapped: Promise<DataKey> | undefined;
  return () => {
    unwrapped ??= teamKey(db, vault, teamId);
    return unwrapped;
  };
}

/** Binds a sealed value to its column, so that it cannot be opened as another one. */
export const sealContext = ({ id }: Pick<HostedRepository, "id">, number: number, what: string): string =>
  `pull_request:${id}:${number}:${what}`;

function recordOf(row: Selectable<PullRequestTable>, key: DataKey): PullRequestRecord {
  const repository = { id: row.repository_id };
  return {
    number: row.number,
    title: key.openText(row.title, sealContext(repository, row.number, "title")),
    body: key.openText(row.body, sealContext(repository, row.number, "body")),
    head: row.head_branch,
    base: row.base_branch,
    state: row.state,
    isDraft: row.draft,
    author: row.author,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

async function checkBranches(repository: HostedRepository, { head, base, since }: NewPullRequest): Promise<void> {
  if (head === base) throw new ApiError("validation_error", `"${head}" cannot be merged into itself.`);
  const missing = await findMissingBranch(repository, [head, base]);
  if (missing !== undefined)
    throw new ApiError("validation_error", `"${repository.name}" has no branch "${missing}". Push it first.`);
  if (since !== undefined && since === (await branchTip(repository, base))) return;
  if (!(await haveCommonHistory(repository, { head, base })))
    throw new ApiError(
      "validation_error",
      `"${head}" has no history in common with "${base}", whose history was replaced by a forced push. Create the branch again from the current base.`,
    );
}
