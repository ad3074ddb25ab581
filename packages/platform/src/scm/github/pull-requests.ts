// Pull requests on GitHub, as the port wants them: looked for before anything is made.
import { RepositoryFault, type RepositoryFaultCode } from "../../git/index.ts";
import { readPullRequestUrl } from "../reference.ts";
import type { Comment, PullRequest, PullRequests, Review } from "../source-host.ts";
import { githubUrl } from "./address.ts";
import { GithubRefusal, githubFault } from "./api.ts";
import { type Ask, asking, askingAs } from "./ask.ts";
import { findOpen, openDraft, openFinding, shownPull } from "./drafts.ts";
import type { GithubRepository } from "./host.ts";
import { missingReviewers } from "./reviewers.ts";

export function githubPullRequests(github: GithubRepository): PullRequests {
  const { repository, web } = github;
  const shownName = `${repository.owner}/${repository.repo}`;
  const trying = <T>(work: Promise<T>, what: string, code: RepositoryFaultCode = "pull_request_failed"): Promise<T> =>
    work.catch((error) => {
      throw githubFault(error, { what: `${what} in ${shownName}`, code });
    });
  const finding = (signal: AbortSignal) => openFinding(asking(github, signal), repository.owner);
  return {
    find: (branches, signal) => trying(findOpen(finding(signal), branches), "look for a pull request"),
    async read(url, signal) {
      const number = readPullRequestUrl(url, githubUrl(repository, web));
      if (number === undefined) return undefined;
      const read = readPull(asking(github, signal), number);
      return trying(read, `read pull request ${number}`, "repository_unreachable");
    },
    openDraft(draft, signal) {
      const { opener } = draft;
      const create = opener === null ? asking(github, signal) : askingAs(github, opener, signal);
      const what = `open a draft pull request${opener === null ? "" : " in your name"}`;
      return trying(openDraft({ finding: finding(signal), create }, draft), what);
    },
    update(number, change, signal) {
      const changes = { pull_number: number, ...change };
      const changed = asking(github, signal)("PATCH /repos/{owner}/{repo}/pulls/{pull_number}", changes);
      return trying(changed.then(shownPull), `change pull request ${number}`);
    },
    comment: (number, comment, signal) =>
      trying(addComment(asking(github, signal), number, comment), `comment on pull request ${number}`),
    review: (number, review, signal) =>
      trying(submitReview(asking(github, signal), number, review), `review pull request ${number}`),
    requestReviewers: (number, reviewers, signal) =>
      trying(requestReviewers(asking(github, signal), number, reviewers), `ask for reviews of pull request ${number}`),
  };
}

async function readPull(ask: Ask, number: number): Promise<PullRequest | undefined> {
  const pull = await ask("GET /repos/{owner}/{repo}/pulls/{pull_number}", { pull_number: number }).catch((error) => {
    if (error instanceof GithubRefusal && error.status === 404) return undefined;
    throw error;
  });
  if (pull === undefined) return undefined;
  // Its branch is in another repository; one of the same name here has nothing to do with it.
  if (pull.head.repo?.id !== pull.base.repo.id)
    throw new RepositoryFault(
      "ref_not_found",
      `Pull request ${number} comes from a fork. Agents cannot push to those.`,
    );
  return shownPull(pull);
}

async function addComment(ask: Ask, number: number, comment: Comment): Promise<void> {
  if (comment.path === undefined) {
    const where = { issue_number: number, body: comment.body };
    await ask("POST /repos/{owner}/{repo}/issues/{issue_number}/comments", where);
    return;
  }
  const { head } = await ask("GET /repos/{owner}/{repo}/pulls/{pull_number}", { pull_number: number });
  const { path, line, body } = comment;
  await ask("POST /repos/{owner}/{repo}/pulls/{pull_number}/comments", {
    pull_number: number,
    commit_id: head.sha,
    path,
    line,
    side: "RIGHT",
    body,
  });
}

const events = { approved: "APPROVE", changes_requested: "REQUEST_CHANGES", commented: "COMMENT" } as const;

async function submitReview(ask: Ask, number: number, { verdict, body, comments = [] }: Review): Promise<void> {
  await ask("POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews", {
    pull_number: number,
    event: events[verdict],
    ...(body !== "" && { body }),
    ...(comments.length > 0 && { comments: comments.map((comment) => ({ ...comment, side: "RIGHT" })) }),
  });
}

async function requestReviewers(ask: Ask, number: number, wished: string[]): Promise<void> {
  const reviewers = await missingReviewers(ask, number, wished);
  if (reviewers.length === 0) return;
  const route = "POST /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers" as const;
  await ask(route, { pull_number: number, reviewers });
}
