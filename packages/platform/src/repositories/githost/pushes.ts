// Finds out which branches a push has changed, and records one event for each, and one for each open pull request.
import type { Kysely } from "kysely";
import type { Queries, Tables } from "../../foundation/index.ts";
import { runGit } from "../git/index.ts";
import type { PushedCommit } from "../scm/index.ts";
import type { PullRequestBranchNames } from "./changes.ts";
import type { EventRecorder } from "./events.ts";
import type { HostedRepository } from "./hosted-repository.ts";
import type { PullRequestStore } from "./pull-requests.ts";
import { readTips } from "./tips.ts";

export interface PushContext {
  db: Kysely<Tables>;
  repository: HostedRepository;
  events: EventRecorder;
  openPulls: PullRequestBranchNames[];
  pulls: Pick<PullRequestStore, "read">;
  sender: string;
  /** Whether each server has a copy of the repository. */
  isShared: boolean;
  /** One whose message is known; that of others is read. */
  commit?: PushedCommit | undefined;
}

/** Compares with what was seen last: a push whose server crashed is found by the next one, and none is found twice. */
export async function recordPushes(context: PushContext): Promise<void> {
  const { db, repository, events, openPulls, pulls, sender, isShared, commit } = context;
  await db.transaction().execute(async (tx) => {
    const { id } = repository;
    const query = tx.selectFrom("hosted_repositories").select("tips").where("id", "=", id);
    const row = await query.forUpdate().executeTakeFirst();
    if (row === undefined) return;
    const tips = isShared ? await agreedTips(tx, repository, row.tips ?? {}) : await readTips(repository);
    const changed = row.tips === null ? [] : changesOf(row.tips, tips);
    if (row.tips !== null && changed.length === 0) return;
    await tx
      .updateTable("hosted_repositories")
      .set({ tips: JSON.stringify(tips) })
      .where("id", "=", id)
      .execute();
    for (const { branch, before, after } of changed) {
      const range = { before: before ?? noCommit, after: after ?? noCommit };
      const kind = { created: before === undefined, deleted: after === undefined };
      const read = (name: string) => (name === commit?.name ? commit.message : readMessage(repository, name));
      const head_commit = after === undefined ? null : { id: after, message: shown(await read(after)) };
      const more = { ref: `refs/heads/${branch}`, ...range, ...kind, head_commit };
      await events.record(tx, "push", { sender, more });
      if (before === undefined || after === undefined) continue;
      for (const { number } of openPulls.filter(({ head }) => head === branch)) {
        const pull = await pulls.read(number, tx);
        const described = await events.describe(tx, pull);
        const synchronized = { action: "synchronize", number, ...range, ...described };
        await events.record(tx, "pull_request", { sender, more: synchronized });
      }
    }
  });
}

type Tips = Record<string, string>;

/**
 * Of the branches that this copy has as they were published. Others stay as recorded: the server that published them
 * records them, and this copy may lack their commits.
 */
async function agreedTips(tx: Queries, repository: HostedRepository, recorded: Tips): Promise<Tips> {
  const query = tx.selectFrom("hosted_repository_saves").select("refs").where("repository_id", "=", repository.id);
  const published = (await query.executeTakeFirst())?.refs ?? {};
  const local = await readTips(repository);
  const names = Object.keys(published).flatMap((name) => /^refs\/heads\/(.+)$/.exec(name)?.[1] ?? []);
  const branches = new Set([...names, ...Object.keys(local), ...Object.keys(recorded)]);
  return Object.fromEntries(
    [...branches].flatMap((branch) => {
      const isAgreed = own(published, `refs/heads/${branch}`) === own(local, branch);
      const tip = own(isAgreed ? local : recorded, branch);
      return tip === undefined ? [] : [[branch, tip]];
    }),
  );
}

const noCommit = "0".repeat(40);

const maxMessageLength = 10_000;

const shown = (message: string): string => message.trim().slice(0, maxMessageLength);

const readMessage = ({ directory }: HostedRepository, commit: string): Promise<string> =>
  runGit({ location: { directory }, args: ["log", "-1", "--format=%B", commit, "--"] });

function changesOf(former: Tips, current: Tips) {
  const branches = [...new Set([...Object.keys(former), ...Object.keys(current)])];
  return branches
    .map((branch) => ({ branch, before: own(former, branch), after: own(current, branch) }))
    .filter(({ before, after }) => before !== after);
}

/** A branch may be called `constructor`. */
const own = (tips: Tips, branch: string): string | undefined =>
  Object.hasOwn(tips, branch) ? tips[branch] : undefined;
