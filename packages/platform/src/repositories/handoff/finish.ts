// Turns the work of a run into a pushed branch and a draft pull request. Idempotent: every step checks the current state first.
import type { Kysely } from "kysely";
import type { Tables } from "../../foundation/index.ts";
import { gitSucceeds, RepositoryFault } from "../git/index.ts";
import type { PersonalAccess, PullRequest, PullRequests, SourceHosts } from "../scm/index.ts";
import type { SigningKey } from "../signing/index.ts";
import type { OpenRepository, Workspaces } from "../workspaces/index.ts";
import { commitLeftovers } from "./commit.ts";
import { commitMessage, noDraftNote, pullRequestBody, pullRequestTitle, updatedBody } from "./describe.ts";
import { findWorkspace } from "./find-workspace.ts";
import type { HandedOff, Handoff, RunSummary } from "./handoff.ts";
import { pushBranch } from "./push.ts";
import { beginHandoff, type HandoffRow, type HandoffStep, moveHandoff, pushedHandoff, shownBranch } from "./store.ts";

export interface HandoffOptions {
  db: Kysely<Tables>;
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
    async finish(runId, signal) {
      const summary = await options.readSummary(runId);
      const workspace = await findWorkspace(options, summary.agentId);
      const done: HandedOff = { branches: [], faults: [] };
      for (const repository of workspace?.repositories ?? []) {
        const work: Work = { runId, summary, repository, options };
        const { row, fault } = await handOff(work, signal);
        done.branches.push(shownBranch(row));
        if (fault) done.faults.push({ repoUrl: row.repo_url, code: fault.code, message: fault.message });
      }
      return done;
    },
  };
}

interface Work {
  runId: string;
  summary: RunSummary;
  repository: OpenRepository;
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
      return moveHandoff(db, row, afterCommit(row, await commit(work, row, signal)));
    case "committed":
      if (row.head_commit === null) return moveHandoff(db, row, { state: "done" });
      await push(work, row, row.head_commit, signal);
      return pushedHandoff(db, row, row.head_commit);
    case "pushed":
      return moveHandoff(db, row, {
        state: "opened",
        pr_url: (await openPullRequest(work, row, signal)) ?? row.pr_url,
      });
    case "opened":
      await announce(work, row, signal);
      return moveHandoff(db, row, { state: "done", announced_pr_url: row.pr_url });
    case "done":
      return undefined;
  }
}

/** Without new commits, a pull request that a user has closed stays closed. */
const afterCommit = (row: HandoffRow, head: string | null): HandoffStep =>
  head !== null && head === row.pushed_commit && row.pr_url !== null
    ? { state: "done" }
    : { state: "committed", head_commit: head };

async function commit(
  { summary, repository, options }: Work,
  row: HandoffRow,
  signal: AbortSignal,
): Promise<string | null> {
  const { identity, signingKey } = options;
  const author = (!summary.opensAsApp && summary.onBehalfOf) || identity;
  const last = await lastCommit(repository, row, signal);
  const head = await commitLeftovers(
    {
      repository,
      last,
      message: commitMessage(summary),
      at: summary.endedAt,
      signing: { platform: identity, author, sign: signingKey.sign },
    },
    signal,
  );
  return head === repository.baseCommit && row.pushed_commit === null ? null : head;
}

/** The commit of an earlier run may be gone, if the agent's files were removed and the branch is not on the host any more. */
async function lastCommit({ hostDirectory, baseCommit }: OpenRepository, row: HandoffRow, signal: AbortSignal) {
  if (row.head_commit === null) return baseCommit;
  const args = ["cat-file", "-e", `${row.head_commit}^{commit}`];
  return (await gitSucceeds({ location: { directory: hostDirectory }, args }, signal)) ? row.head_commit : baseCommit;
}

async function push(
  { summary, repository, options }: Work,
  row: HandoffRow,
  head: string,
  signal: AbortSignal,
): Promise<void> {
  if (head === row.pushed_commit) return;
  const host = await options.sources.open(summary.teamId, repository.url);
  const location = { directory: repository.hostDirectory };
  const replaceable = repository.isOwnBranch ? (row.pushed_commit ?? undefined) : undefined;
  await pushBranch({ host, location, branch: row.branch, commit: head, replaceable }, signal);
}

async function openPullRequest(work: Work, row: HandoffRow, signal: AbortSignal): Promise<string | undefined> {
  const { summary, repository, options } = work;
  const { pullRequests } = await options.sources.open(summary.teamId, repository.url);
  const branches = { head: row.branch, base: row.base_branch };
  if (pullRequests === null || branches.head === branches.base) return undefined;
  const found = await pullRequests.find(branches, signal);
  if (found !== undefined) return updateBody({ pullRequests, found, results: summary.results }, signal);
  if (!summary.autoCreatePR) return undefined;
  const draft = {
    ...branches,
    title: pullRequestTitle(summary),
    body: pullRequestBody(summary.results),
    noDraftNote,
    author: `agent:${summary.agentId}`,
    opener: summary.opensAsApp ? null : await options.personOf(work.runId, repository.url),
  };
  return (await pullRequests.openDraft(draft, signal)).url;
}

/** Requests reviewers once per pull request: a reviewer who was removed is not requested again by a follow-up. */
async function announce(work: Work, row: HandoffRow, signal: AbortSignal): Promise<void> {
  const { runId, summary, repository, options } = work;
  const isNew = row.pr_url !== null && row.pr_url !== row.announced_pr_url;
  if (row.pr_url === null || !isNew || !repository.isOwnBranch || !summary.asksForReview) return;
  const reviewers = await options.reviewersOf(runId, repository.url);
  if (reviewers.length === 0) return;
  const { pullRequests } = await options.sources.open(summary.teamId, repository.url);
  const opened = await pullRequests?.find({ head: row.branch, base: row.base_branch }, signal);
  if (opened !== undefined) await pullRequests?.requestReviewers(opened.number, reviewers, signal);
}

interface PullRequestUpdate {
  pullRequests: PullRequests;
  found: PullRequest;
  results: string[];
}

/** Adds the result of the latest run to the body. */
async function updateBody({ pullRequests, found, results }: PullRequestUpdate, signal: AbortSignal): Promise<string> {
  const body = results.length > 1 ? updatedBody(found.body, results) : undefined;
  if (body !== undefined) await pullRequests.update(found.number, { body }, signal);
  return found.url;
}
