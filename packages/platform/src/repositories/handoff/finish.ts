// Turns the work of a run into a pushed branch and a draft pull request. Idempotent: every step checks the current state first.
import type { Kysely } from "kysely";
import { type DataKey, once, type Tables, type Vault } from "../../foundation/index.ts";
import { gitSucceeds, RepositoryFault } from "../git/index.ts";
import type { PersonalAccess, PullRequest, PullRequests, SourceHost, SourceHosts } from "../scm/index.ts";
import type { SigningKey } from "../signing/index.ts";
import type { OpenRepository, Workspaces } from "../workspaces/index.ts";
import type { NewCheck } from "./check-store.ts";
import { type CommittedWork, commitLeftovers } from "./commit.ts";
import { countLines } from "./count-lines.ts";
import { commitMessage, pullRequestTitle } from "./describe.ts";
import type { HandedOff, Handoff, RunSummary } from "./handoff.ts";
import { listCommits } from "./list-commits.ts";
import {
  bodyDigest,
  isWrittenAs,
  noDraftNote,
  type PullRequestDetails,
  pullRequestBody,
  updatedBody,
} from "./pull-request-body.ts";
import { pushBranch } from "./push.ts";
import { refuseSecrets } from "./refuse-secrets.ts";
import { keepRunStart } from "./run-start.ts";
import {
  beginHandoff,
  type HandoffRow,
  type HandoffStep,
  moveHandoff,
  openHeldBack,
  pushedHandoff,
  sealHeldBack,
  shownBranch,
} from "./store.ts";

export interface HandoffOptions {
  db: Kysely<Tables>;
  vault: Vault;
  workspaces: Workspaces;
  sources: SourceHosts;
  /** The committer of all commits, and their author if the user must not be named. */
  identity: { name: string; email: string };
  signingKey: Pick<SigningKey, "sign">;
  /** Must return the same value for a run on every call. */
  readSummary(runId: string): Promise<RunSummary>;
  /** Reviewers to request for this repository, by their user names on its host. */
  reviewersOf(runId: string, repositoryUrl: string): Promise<string[]>;
  /** The user in whose name pull requests are opened; null for the platform. */
  personOf(runId: string, repositoryUrl: string): Promise<PersonalAccess | null>;
}

export function openHandoff(options: HandoffOptions): Handoff {
  return {
    begin: (run, signal) => keepRunStart(run, options, signal),
    async publish(runId, signal) {
      const summary = await options.readSummary(runId);
      const { directory, key } = await openAgent(options, summary.agentId);
      const workspace = await options.workspaces.find(directory);
      const done: HandedOff = { branches: [], faults: [] };
      for (const repository of workspace?.repositories ?? []) {
        const openHost = once(() => options.sources.open(summary.teamId, repository.url));
        const work: Work = { runId, summary, key, repository, openHost, options };
        const { row, fault } = await handOff(work, signal);
        done.branches.push(shownBranch(row, key));
        if (fault) done.faults.push({ repoUrl: row.repo_url, code: fault.code, message: fault.message });
      }
      return done;
    },
  };
}

async function openAgent({ db, vault }: HandoffOptions, agentId: string): Promise<{ directory: string; key: DataKey }> {
  const { directory, data_key } = await db
    .selectFrom("agents")
    .select(["directory", "data_key"])
    .where("id", "=", agentId)
    .executeTakeFirstOrThrow();
  return { directory, key: await vault.unwrap(data_key) };
}

interface Work {
  runId: string;
  summary: RunSummary;
  /** Of the agent. */
  key: DataKey;
  repository: OpenRepository;
  /** Of the repository, opened when it is first needed. */
  openHost(): Promise<SourceHost>;
  options: HandoffOptions;
}

interface HandoffResult {
  row: HandoffRow;
  fault?: RepositoryFault;
}

async function handOff(work: Work, signal: AbortSignal): Promise<HandoffResult> {
  const { runId, summary, repository, options } = work;
  const { branch, baseBranch, baseCommit, url } = repository;
  let row = await beginHandoff(options.db, {
    agent_id: summary.agentId,
    repo_url: options.sources.shown(url),
    run_id: runId,
    branch,
    base_branch: baseBranch,
    base_commit: baseCommit,
  });
  try {
    for (;;) {
      const next = await takeStep(work, row, signal);
      if (next === undefined) return { row };
      row = next;
    }
  } catch (error) {
    if (!(error instanceof RepositoryFault)) throw error;
    return { row: await moveHandoff(options.db, row, { state: "failed" }), fault: error };
  }
}

/** Undefined if nothing is left to do. */
async function takeStep(work: Work, row: HandoffRow, signal: AbortSignal): Promise<HandoffRow | undefined> {
  const { db } = work.options;
  switch (row.state) {
    case "waiting":
    case "failed":
      return moveHandoff(db, row, await commit(work, row, signal));
    case "committed":
      if (row.head_commit === null) return moveHandoff(db, row, { state: "done" });
      return pushedHandoff(db, row, await push(work, row, row.head_commit, signal));
    case "pushed": {
      const opened = await openPullRequest(work, row, signal);
      if ((await reviewersFor(work, { ...row, ...opened })).length > 0)
        return moveHandoff(db, row, { state: "opened", ...opened });
      return moveHandoff(db, row, { state: "done", ...opened, announced_pr_url: opened.pr_url });
    }
    case "opened":
      await announce(work, row, signal);
      return moveHandoff(db, row, { state: "done", announced_pr_url: row.pr_url });
    case "done":
      return undefined;
  }
}

async function commit(work: Work, row: HandoffRow, signal: AbortSignal): Promise<HandoffStep> {
  const { summary, key, repository, options } = work;
  const { identity, signingKey } = options;
  const author = (!summary.opensAsApp && summary.onBehalfOf) || identity;
  const last = await lastCommit(repository, row, signal);
  const committed = await commitLeftovers(
    {
      repository,
      last,
      message: commitMessage(summary),
      at: summary.endedAt,
      signing: { platform: identity, author, sign: signingKey.sign },
    },
    signal,
  );
  const exclude = [repository.baseCommit, ...(row.pushed_commit === null ? [] : [row.pushed_commit])];
  const location = { directory: repository.hostDirectory };
  await refuseSecrets({ location, head: committed.commit, exclude }, summary.secrets, signal);
  const step = afterCommit(row, { ...committed, isNew: committed.commit !== repository.baseCommit }, key);
  if (step.state !== "committed" || step.head_commit === null) return step;
  const range = { base: repository.baseCommit, head: step.head_commit };
  return { ...step, ...(await countLines(location, range, signal)) };
}

/** Without new commits, a pull request that a user has closed stays closed. */
function afterCommit(
  row: HandoffRow,
  { commit: head, heldBack, isNew }: CommittedWork & { isNew: boolean },
  key: DataKey,
): HandoffStep {
  const held_back = sealHeldBack(row, key, heldBack);
  if (!isNew && row.pushed_commit === null) return { state: "committed", head_commit: null, held_back };
  if (head === row.pushed_commit && row.pr_url !== null) return { state: "done", held_back };
  return { state: "committed", head_commit: head, held_back };
}

/** The commit of an earlier run may be gone, if the agent's files were removed and the branch is not on the host any more. */
async function lastCommit({ hostDirectory, baseCommit }: OpenRepository, row: HandoffRow, signal: AbortSignal) {
  if (row.head_commit === null) return baseCommit;
  const args = ["cat-file", "-e", `${row.head_commit}^{commit}`];
  return (await gitSucceeds({ location: { directory: hostDirectory }, args }, signal)) ? row.head_commit : baseCommit;
}

/** The check to show on the commit; null if it was pushed before. */
async function push(
  { repository, openHost }: Work,
  row: HandoffRow,
  head: string,
  signal: AbortSignal,
): Promise<NewCheck | null> {
  if (head === row.pushed_commit) return null;
  const host = await openHost();
  const location = { directory: repository.hostDirectory };
  const replaceable = repository.isOwnBranch ? (row.pushed_commit ?? undefined) : undefined;
  const known = [repository.baseCommit];
  await pushBranch({ host, location, branch: row.branch, commit: head, known, replaceable }, signal);
  return { commit_name: head, state: host.directory === null ? "wanted" : "ended" };
}

type OpenedPullRequest = Pick<HandoffRow, "pr_url" | "body_digest">;

async function openPullRequest(work: Work, row: HandoffRow, signal: AbortSignal): Promise<OpenedPullRequest> {
  const { summary, repository, openHost, options } = work;
  const unchanged = { pr_url: row.pr_url, body_digest: row.body_digest };
  const { pullRequests } = await openHost();
  const branches = { head: row.branch, base: row.base_branch };
  if (pullRequests === null || branches.head === branches.base) return unchanged;
  const found = await pullRequests.find(branches, signal);
  if (found === undefined && !summary.autoCreatePR) return unchanged;
  const details = await detailsOf(work, row, signal);
  if (found !== undefined) return updateBody({ pullRequests, found, digest: row.body_digest, details }, signal);
  const body = pullRequestBody(details);
  const draft = {
    ...branches,
    since: repository.baseCommit,
    title: pullRequestTitle(
      summary,
      details.commits.map(({ subject }) => subject),
    ),
    body,
    noDraftNote,
    author: `agent:${summary.agentId}`,
    opener: summary.opensAsApp ? null : await options.personOf(work.runId, repository.url),
  };
  return { pr_url: (await pullRequests.openDraft(draft, signal)).url, body_digest: bodyDigest(body) };
}

async function detailsOf(
  { summary, key, repository }: Work,
  row: HandoffRow,
  signal: AbortSignal,
): Promise<PullRequestDetails> {
  const location = { directory: repository.hostDirectory };
  const range = { base: repository.baseCommit, head: row.pushed_commit ?? repository.baseCommit };
  return {
    results: summary.results,
    commands: summary.commands,
    commits: await listCommits(location, range, signal),
    heldBack: openHeldBack(row, key),
  };
}

/** Once per pull request: a reviewer who was removed is not requested again by a follow-up. */
async function reviewersFor({ runId, summary, repository, options }: Work, row: HandoffRow): Promise<string[]> {
  const isNew = row.pr_url !== null && row.pr_url !== row.announced_pr_url;
  if (!isNew || !repository.isOwnBranch || !summary.asksForReview) return [];
  return options.reviewersOf(runId, repository.url);
}

async function announce(work: Work, row: HandoffRow, signal: AbortSignal): Promise<void> {
  const { openHost } = work;
  const reviewers = await reviewersFor(work, row);
  if (reviewers.length === 0) return;
  const { pullRequests } = await openHost();
  const opened = await pullRequests?.find({ head: row.branch, base: row.base_branch }, signal);
  if (opened !== undefined) await pullRequests?.requestReviewers(opened.number, reviewers, signal);
}

interface PullRequestUpdate {
  pullRequests: PullRequests;
  found: PullRequest;
  /** Of the body that the platform wrote last. */
  digest: string | null;
  details: PullRequestDetails;
}

/** Adds the result of the latest run to the body. */
async function updateBody(
  { pullRequests, found, digest, details }: PullRequestUpdate,
  signal: AbortSignal,
): Promise<OpenedPullRequest> {
  const body = updatedBody({ body: found.body, digest }, details);
  if (body !== undefined) await pullRequests.update(found.number, { body }, signal);
  const isOurs = body !== undefined || isWrittenAs(found.body, details);
  return { pr_url: found.url, body_digest: isOurs ? bodyDigest(pullRequestBody(details)) : digest };
}
