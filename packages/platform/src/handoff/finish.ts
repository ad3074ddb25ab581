// Turns what a run has left into a pushed branch and a draft pull request. Safe to call again: every step looks before it acts.
import type { Kysely } from "kysely";
import type { Tables } from "../db/index.ts";
import { RepositoryFault } from "../git/index.ts";
import type { PersonalAccess, PullRequest, PullRequests, SourceHosts } from "../scm/index.ts";
import type { SigningKey } from "../signing/index.ts";
import type { OpenRepository, Workspaces } from "../workspaces/index.ts";
import { commitLeftovers } from "./commit.ts";
import { commitMessage, grownBody, noDraftNote, pullRequestBody, pullRequestTitle } from "./describe.ts";
import type { HandedOff, Handoff, RunStory } from "./handoff.ts";
import { pushBranch } from "./push.ts";
import { beginHandoff, type HandoffRow, type HandoffStep, moveHandoff, pushedHandoff, shownBranch } from "./store.ts";

export interface HandoffOptions {
  db: Kysely<Tables>;
  workspaces: Workspaces;
  sources: SourceHosts;
  /** Whom commits name as committer, and as author where the person must not be. */
  identity: { name: string; email: string };
  signingKey: Pick<SigningKey, "sign">;
  /** The same for one run at every call. */
  readStory(runId: string): Promise<RunStory>;
  /** Who is to be asked for a review of work on this repository, by their names on its host. */
  reviewersOf(runId: string, repositoryUrl: string): Promise<string[]>;
  /** In whose name a pull request is opened there; null: the platform's. */
  personOf(runId: string, repositoryUrl: string): Promise<PersonalAccess | null>;
}

export function openHandoff(options: HandoffOptions): Handoff {
  return {
    async finish(runId, signal) {
      const story = await options.readStory(runId);
      const workspace = await options.workspaces.find(story.agentId);
      const done: HandedOff = { branches: [], faults: [] };
      for (const repository of workspace?.repositories ?? []) {
        const work: Work = { runId, story, repository, options };
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
  story: RunStory;
  repository: OpenRepository;
  options: HandoffOptions;
}

interface Settled {
  row: HandoffRow;
  fault?: RepositoryFault;
}

async function handOff(work: Work, signal: AbortSignal): Promise<Settled> {
  const { runId, story, repository, options } = work;
  const { branch, baseBranch, baseCommit, url } = repository;
  let row = await beginHandoff(options.db, {
    agent_id: story.agentId,
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

/** Undefined where there is nothing left to do. */
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

/** Where there is nothing new, a pull request that a person has closed stays closed. */
const afterCommit = (row: HandoffRow, head: string | null): HandoffStep =>
  head !== null && head === row.pushed_commit && row.pr_url !== null
    ? { state: "done" }
    : { state: "committed", head_commit: head };

async function commit(
  { story, repository, options }: Work,
  row: HandoffRow,
  signal: AbortSignal,
): Promise<string | null> {
  const { identity, signingKey } = options;
  const author = (!story.opensAsApp && story.onBehalfOf) || identity;
  const last = row.head_commit ?? repository.baseCommit;
  const head = await commitLeftovers(
    {
      repository,
      last,
      message: commitMessage(story),
      at: story.endedAt,
      signing: { platform: identity, author, sign: signingKey.sign },
    },
    signal,
  );
  return head === repository.baseCommit && row.pushed_commit === null ? null : head;
}

async function push(
  { story, repository, options }: Work,
  row: HandoffRow,
  head: string,
  signal: AbortSignal,
): Promise<void> {
  if (head === row.pushed_commit) return;
  const host = await options.sources.open(story.teamId, repository.url);
  const place = { directory: repository.hostDirectory };
  const replaceable = repository.isOwnBranch ? (row.pushed_commit ?? undefined) : undefined;
  await pushBranch({ host, place, branch: row.branch, commit: head, replaceable }, signal);
}

async function openPullRequest(work: Work, row: HandoffRow, signal: AbortSignal): Promise<string | undefined> {
  const { story, repository, options } = work;
  const { pullRequests } = await options.sources.open(story.teamId, repository.url);
  const branches = { head: row.branch, base: row.base_branch };
  if (pullRequests === null || branches.head === branches.base) return undefined;
  const found = await pullRequests.find(branches, signal);
  if (found !== undefined) return bringUpToDate({ pullRequests, found, results: story.results }, signal);
  if (!story.autoCreatePR) return undefined;
  const draft = {
    ...branches,
    title: pullRequestTitle(story),
    body: pullRequestBody(story.results),
    noDraftNote,
    author: `agent:${story.agentId}`,
    opener: story.opensAsApp ? null : await options.personOf(work.runId, repository.url),
  };
  return (await pullRequests.openDraft(draft, signal)).url;
}

/** Reviewers are asked once for a pull request of ours: whoever was taken off it is not asked again by a follow-up. */
async function announce(work: Work, row: HandoffRow, signal: AbortSignal): Promise<void> {
  const { runId, story, repository, options } = work;
  const isNews = row.pr_url !== null && row.pr_url !== row.announced_pr_url;
  if (row.pr_url === null || !isNews || !repository.isOwnBranch || !story.asksForReview) return;
  const reviewers = await options.reviewersOf(runId, repository.url);
  if (reviewers.length === 0) return;
  const { pullRequests } = await options.sources.open(story.teamId, repository.url);
  const opened = await pullRequests?.find({ head: row.branch, base: row.base_branch }, signal);
  if (opened !== undefined) await pullRequests?.requestReviewers(opened.number, reviewers, signal);
}

interface Growing {
  pullRequests: PullRequests;
  found: PullRequest;
  results: string[];
}

/** Its text grows with the runs. */
async function bringUpToDate({ pullRequests, found, results }: Growing, signal: AbortSignal): Promise<string> {
  const grown = results.length > 1 ? grownBody(found.body, results) : undefined;
  if (grown !== undefined) await pullRequests.update(found.number, { body: grown }, signal);
  return found.url;
}
