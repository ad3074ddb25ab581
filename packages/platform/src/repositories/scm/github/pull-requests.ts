// Pull requests on GitHub. Searches for existing ones before creating anything.
import { RepositoryFault, type RepositoryFaultCode } from "../../git/index.ts";
import { readPullRequestUrl } from "../reference.ts";
import type { Comment, Dismissal, PullRequest, PullRequests, Review } from "../source-host.ts";
import { githubUrl } from "./address.ts";
import { GithubRefusal, githubFault } from "./api.ts";
import { findOpen, openDraft, openPullRequestSearch, toPullRequest } from "./drafts.ts";
import { readPages } from "./pages.ts";
import type { GithubRepository } from "./repository.ts";
import { type RepositoryRequest, requestAsPerson, requestAsPlatform } from "./requests.ts";
import { missingReviewers } from "./reviewers.ts";

export function githubPullRequests(github: GithubRepository): PullRequests {
  const { repository, web } = github;
  const shownName = `${repository.owner}/${repository.repo}`;
  const withFault = <T>(
    work: Promise<T>,
    what: string,
    code: RepositoryFaultCode = "pull_request_failed",
  ): Promise<T> =>
    work.catch((error) => {
      throw githubFault(error, { what: `${what} in ${shownName}`, code });
    });
  const openSearch = (signal: AbortSignal) =>
    openPullRequestSearch(requestAsPlatform(github, signal), repository.owner);
  return {
    find: (branches, signal) => withFault(findOpen(openSearch(signal), branches), "look for a pull request"),
    async read(url, signal) {
      const number = readPullRequestUrl(url, githubUrl(repository, web));
      if (number === undefined) return undefined;
      const read = readPull(requestAsPlatform(github, signal), number);
      return withFault(read, `read pull request ${number}`, "repository_unreachable");
    },
    openDraft(draft, signal) {
      const { opener } = draft;
      const create = opener === null ? requestAsPlatform(github, signal) : requestAsPerson(github, opener, signal);
      const what = `open a draft pull request${opener === null ? "" : " in your name"}`;
      return withFault(openDraft({ search: openSearch(signal), create }, draft), what);
    },
    update(number, change, signal) {
      const changes = { pull_number: number, ...change };
      const updated = requestAsPlatform(github, signal)("PATCH /repos/{owner}/{repo}/pulls/{pull_number}", changes);
      return withFault(updated.then(toPullRequest), `change pull request ${number}`);
    },
    comment: (number, comment, signal) =>
      withFault(addComment(requestAsPlatform(github, signal), number, comment), `comment on pull request ${number}`),
    review: (number, review, signal) =>
      withFault(submitReview(requestAsPlatform(github, signal), number, review), `review pull request ${number}`),
    requestReviewers: (number, reviewers, signal) =>
      withFault(
        requestReviewers(requestAsPlatform(github, signal), number, reviewers),
        `ask for reviews of pull request ${number}`,
      ),
    dismissReviews: (number, dismissal, signal) =>
      withFault(
        dismissReviews(requestAsPlatform(github, signal), number, dismissal),
        `dismiss reviews of pull request ${number}`,
      ),
  };
}

async function readPull(request: RepositoryRequest, number: number): Promise<PullRequest | undefined> {
  const pull = await request("GET /repos/{owner}/{repo}/pulls/{pull_number}", { pull_number: number }).catch(
    (error) => {
      if (error instanceof GithubRefusal && error.status === 404) return undefined;
      throw error;
    },
  );
  if (pull === undefined) return undefined;
  // Its branch is in another repository; a branch of the same name here is unrelated.
  if (pull.head.repo?.id !== pull.base.repo.id)
    throw new RepositoryFault(
      "ref_not_found",
      `Pull request ${number} comes from a fork. Agents cannot push to those.`,
    );
  return toPullRequest(pull);
}

async function addComment(request: RepositoryRequest, number: number, comment: Comment): Promise<void> {
  if (comment.path === undefined) {
    const where = { issue_number: number, body: signed(comment) };
    await request("POST /repos/{owner}/{repo}/issues/{issue_number}/comments", where);
    return;
  }
  const { head } = await request("GET /repos/{owner}/{repo}/pulls/{pull_number}", { pull_number: number });
  const { path, line } = comment;
  await request("POST /repos/{owner}/{repo}/pulls/{pull_number}/comments", {
    pull_number: number,
    commit_id: head.sha,
    path,
    line,
    side: "RIGHT",
    body: signed(comment),
  });
}

/** The host shows the account of the app alone. A mark that readers do not see says which agent it was, so that it does not answer itself. */
const signed = ({ author, body }: Pick<Comment, "author" | "body">): string =>
  author.startsWith("agent:") || author === "platform" ? `${body}\n\n<!-- ${author} -->` : body;

const events = { approved: "APPROVE", changes_requested: "REQUEST_CHANGES", commented: "COMMENT" } as const;

async function submitReview(
  request: RepositoryRequest,
  number: number,
  { author, verdict, body, comments = [] }: Review,
): Promise<void> {
  await request("POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews", {
    pull_number: number,
    event: events[verdict],
    ...((body !== "" || verdict !== "commented") && { body: signed({ author, body }) }),
    ...(comments.length > 0 && {
      comments: comments.map(({ path, line, body: text }) => ({
        path,
        line,
        body: signed({ author, body: text }),
        side: "RIGHT",
      })),
    }),
  });
}

async function requestReviewers(request: RepositoryRequest, number: number, requested: string[]): Promise<string[]> {
  const reviewers = await missingReviewers(request, number, requested);
  if (reviewers.length === 0) return [];
  const route = "POST /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers" as const;
  await request(route, { pull_number: number, reviewers });
  return reviewers;
}

async function dismissReviews(
  request: RepositoryRequest,
  number: number,
  { reviewer, message, author }: Dismissal,
): Promise<number> {
  const pull = { pull_number: number };
  const reviews = await readPages((page) =>
    request("GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews", { ...pull, ...page }),
  );
  const counted = reviews.filter(
    ({ user, state }) =>
      user?.login.toLowerCase() === reviewer.toLowerCase() && ["APPROVED", "CHANGES_REQUESTED"].includes(state),
  );
  const route = "PUT /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}/dismissals" as const;
  for (const { id } of counted)
    await request(route, {
      ...pull,
      review_id: Number(id),
      message: signed({ author, body: message }),
      event: "DISMISS",
    });
  return counted.length;
}
