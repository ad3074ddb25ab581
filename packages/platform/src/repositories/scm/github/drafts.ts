// Opens draft pull requests on GitHub, and finds open ones of any author.
import type { Endpoints } from "@octokit/types";
import type { Branches, Draft, PullRequest } from "../source-host.ts";
import { GithubRefusal } from "./api.ts";
import type { RepositoryRequest } from "./requests.ts";

export interface DraftContext {
  search: PullRequestSearch;
  /** Sends requests on behalf of the pull request's author. */
  create: RepositoryRequest;
}

export async function openDraft({ search, create }: DraftContext, draft: Draft): Promise<PullRequest> {
  const { head, base } = draft;
  const existing = await findOpen(search, { head, base });
  if (existing !== undefined) return existing;
  try {
    return toPullRequest(await createDraft(create, draft));
  } catch (error) {
    // Another client created it first, or the response of an earlier attempt was lost.
    const mayExist = error instanceof GithubRefusal && error.status === 422;
    const existing = mayExist ? await findOpen(search, { head, base }) : undefined;
    if (existing === undefined) throw error;
    return existing;
  }
}

/** Private repositories support drafts only in some GitHub plans. */
async function createDraft(create: RepositoryRequest, { title, body, noDraftNote, head, base }: Draft) {
  const route = "POST /repos/{owner}/{repo}/pulls" as const;
  return create(route, { title, body, head, base, draft: true }).catch((error: unknown) => {
    const isUnsupported =
      error instanceof GithubRefusal && /draft pull requests are not supported/i.test(error.message);
    if (!isUnsupported) throw error;
    return create(route, { title, body: [body, noDraftNote].filter(Boolean).join("\n\n"), head, base, draft: false });
  });
}

export interface PullRequestSearch {
  request: RepositoryRequest;
  /** As in the URL. */
  owner: string;
  /** The owner after possible transfers. */
  currentOwner(): Promise<string>;
}

export function openPullRequestSearch(request: RepositoryRequest, owner: string): PullRequestSearch {
  let current: Promise<string> | undefined;
  const currentOwner = () => {
    current ??= request("GET /repos/{owner}/{repo}", {}).then((repository) => repository.owner.login);
    return current;
  };
  return { request, owner, currentOwner };
}

export async function findOpen(search: PullRequestSearch, branches: Branches): Promise<PullRequest | undefined> {
  const { owner, currentOwner } = search;
  const found = await findByOwner(owner, search, branches);
  if (found !== undefined) return found;
  const current = await currentOwner();
  return current.toLowerCase() === owner.toLowerCase() ? undefined : findByOwner(current, search, branches);
}

/** GitHub filters heads by the current owner of the repository, which a transfer changes. */
async function findByOwner(
  owner: string,
  { request }: PullRequestSearch,
  { head, base }: Branches,
): Promise<PullRequest | undefined> {
  const query = { state: "open" as const, head: `${owner}:${head}`, base, per_page: 100 };
  const pulls = await request("GET /repos/{owner}/{repo}/pulls", query);
  // GitHub ignores a filter that it cannot parse.
  const pull = pulls.find((candidate) => candidate.head.ref === head && candidate.base.ref === base);
  return pull && toPullRequest(pull);
}

type Pull = Endpoints["GET /repos/{owner}/{repo}/pulls/{pull_number}"]["response"]["data"];
type PullFields = Pick<Pull, "number" | "html_url" | "title" | "body" | "draft" | "merged_at"> & {
  state: string;
  head: { ref: string };
  base: { ref: string };
};

export const toPullRequest = (pull: PullFields): PullRequest => ({
  number: pull.number,
  url: pull.html_url,
  title: pull.title,
  body: (pull.body ?? "").replaceAll("\r\n", "\n"),
  head: pull.head.ref,
  base: pull.base.ref,
  state: pull.merged_at ? "merged" : pull.state === "closed" ? "closed" : "open",
  isDraft: pull.draft ?? false,
});
