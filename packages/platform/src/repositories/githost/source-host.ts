// Hosted repositories as a source host: git accesses their directory, pull requests are database records.
import { ApiError } from "../../foundation/index.ts";
import { RepositoryFault } from "../git/index.ts";
import type { OwnRepositories, PullRequest, PullRequests, SourceHost } from "../scm/index.ts";
import type { GitHost } from "./host.ts";
import type { HostedRepository } from "./hosted-repository.ts";
import { inquiriesOf } from "./inquiries.ts";
import type { PullRequestRecord } from "./pull-requests.ts";

export const ownRepositories = (host: GitHost): OwnRepositories => ({
  async nameOf(url) {
    const match = host.readCloneUrl(url);
    // Another server may have started since the addresses were loaded.
    if (match === undefined) await host.addresses.refresh();
    return (match ?? host.readCloneUrl(url))?.name;
  },
  async open(teamId, name) {
    const repository = await host.repositories.find(teamId, name);
    return repository && embeddedHost(host, repository);
  },
});

function embeddedHost(host: GitHost, repository: HostedRepository): SourceHost {
  const { directory } = repository;
  return {
    directory,
    pullRequests: pullRequestsOf(host, repository),
    checks: null,
    inquiries: inquiriesOf(repository, host.pullRequests(repository)),
    mintToken: null,
    hooks: null,
    reach: (work) => work({ address: directory, protocol: "file", config: [], variables: {} }),
    assertGit: async () => {},
    notePush: (commit) => host.notePush(repository, "platform", commit),
  };
}

function pullRequestsOf(host: GitHost, repository: HostedRepository): PullRequests {
  const store = host.pullRequests(repository);
  const comments = host.commentStore(repository);
  const toPullRequest = ({ number, title, body, head, base, state, isDraft }: PullRequestRecord): PullRequest => {
    const url = host.pullRequestUrl(repository.name, number);
    return { number, url, title, body, head, base, state, isDraft };
  };
  return {
    async find(branches) {
      const found = await store.findOpen(branches);
      return found && toPullRequest(found);
    },
    async read(url) {
      const parsed = host.readPullRequestUrl(url);
      if (parsed?.name !== repository.name) return undefined;
      return store.read(parsed.number).then(toPullRequest, (error) => {
        if (error instanceof ApiError) return undefined;
        throw error;
      });
    },
    openDraft: (draft) => store.open({ ...draft, isDraft: true }).then(toPullRequest, refuse),
    update: (number, change) => store.change(number, change, "platform").then(toPullRequest, refuse),
    comment: async (number, comment) => comments.comment(await store.read(number), comment),
    review: async (number, review) => comments.review(await store.read(number), review),
    // Hosted repositories have no review requests: every team member sees all pull requests.
    requestReviewers: async (_number, reviewers) => reviewers,
    dismissReviews: async (number, { reviewer }) => comments.dismiss(number, reviewer),
  };
}

function refuse(error: unknown): never {
  if (!(error instanceof ApiError)) throw error;
  throw new RepositoryFault("pull_request_failed", error.message, { cause: error });
}
