// Pull requests on GitHub, as the port wants them: looked for before anything is made.
import type { Endpoints } from "@octokit/types";
import { RepositoryFault, type RepositoryFaultCode } from "../../git/index.ts";
import { readPullRequestUrl } from "../reference.ts";
import type { Branches, Comment, PullRequest, PullRequests, Review } from "../source-host.ts";
import { githubUrl } from "./address.ts";
import { GithubRefusal, githubFault } from "./api.ts";
import type { GithubRepository } from "./host.ts";
import { missingReviewers } from "./reviewers.ts";

type Route = keyof Endpoints;
export type Ask = <R extends Route>(
  route: R,
  parameters: Omit<Endpoints[R]["parameters"], "owner" | "repo">,
) => Promise<Endpoints[R]["response"]["data"]>;

const longestWorkMs = 120_000;

export function githubPullRequests(github: GithubRepository): PullRequests {
  const { repository, web } = github;
  const ask = asking(github);
  const shownName = `${repository.owner}/${repository.repo}`;
  const trying = <T>(work: Promise<T>, what: string, code: RepositoryFaultCode = "pull_request_failed"): Promise<T> =>
    work.catch((error) => {
      throw githubFault(error, { what: `${what} in ${shownName}`, code });
    });
  return {
    find: (branches) => trying(findOpen(ask, github, branches), "look for a pull request"),
    async read(url) {
      const number = readPullRequestUrl(url, githubUrl(repository, web));
      if (number === undefined) return undefined;
      return trying(readPull(ask, number), `read pull request ${number}`, "repository_unreachable");
    },
    openDraft: (draft) => trying(openDraft(ask, github, draft), "open a draft pull request"),
    update: (number, change) =>
      trying(
        ask("PATCH /repos/{owner}/{repo}/pulls/{pull_number}", { pull_number: number, ...change }).then(shownPull),
        `change pull request ${number}`,
      ),
    comment: (number, comment) => trying(addComment(ask, number, comment), `comment on pull request ${number}`),
    review: (number, review) => trying(submitReview(ask, number, review), `review pull request ${number}`),
    requestReviewers: (number, reviewers) =>
      trying(requestReviewers(ask, number, reviewers), `ask for reviews of pull request ${number}`),
  };
}

/** With the repository and a token for it. One that was taken back before its time is exchanged once. */
function asking({ api, credentials, repository }: GithubRepository): Ask {
  return async (route, parameters) => {
    const signal = AbortSignal.timeout(longestWorkMs);
    const attempt = async () => {
      const token = await credentials.token(repository, signal);
      return api.ask({ route, parameters: { ...parameters, ...repository } as never, token }, signal);
    };
    return attempt().catch((error) => {
      const isExpired = error instanceof GithubRefusal && error.status === 401 && credentials.forget(repository);
      if (!isExpired) throw error;
      return attempt();
    });
  };
}

type Pull = Endpoints["GET /repos/{owner}/{repo}/pulls/{pull_number}"]["response"]["data"];
type ShownPull = Pick<Pull, "number" | "html_url" | "title" | "body" | "draft" | "merged_at"> & {
  state: string;
  head: { ref: string };
  base: { ref: string };
};

const shownPull = (pull: ShownPull): PullRequest => ({
  number: pull.number,
  url: pull.html_url,
  title: pull.title,
  body: (pull.body ?? "").replaceAll("\r\n", "\n"),
  head: pull.head.ref,
  base: pull.base.ref,
  state: pull.merged_at ? "merged" : pull.state === "closed" ? "closed" : "open",
  isDraft: pull.draft ?? false,
});

async function findOpen(ask: Ask, { repository }: GithubRepository, branches: Branches) {
  const { head, base } = branches;
  const found = await ask("GET /repos/{owner}/{repo}/pulls", {
    state: "open",
    head: `${repository.owner}:${head}`,
    base,
    per_page: 100,
  });
  // A filter it does not understand is no filter to GitHub.
  const pull = found.find((one) => one.head.ref === head && one.base.ref === base);
  return pull && shownPull(pull);
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

async function openDraft(
  ask: Ask,
  github: GithubRepository,
  { title, body, head, base }: Branches & { title: string; body: string },
): Promise<PullRequest> {
  const known = await findOpen(ask, github, { head, base });
  if (known !== undefined) return known;
  try {
    return shownPull(await ask("POST /repos/{owner}/{repo}/pulls", { title, body, head, base, draft: true }));
  } catch (error) {
    // Somebody was faster, or an answer was lost on its way to us.
    const isThere = error instanceof GithubRefusal && error.status === 422;
    const found = isThere ? await findOpen(ask, github, { head, base }) : undefined;
    if (found === undefined) throw error;
    return found;
  }
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
