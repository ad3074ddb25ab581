// Repositories of our own as a source host: git reaches their directory, pull requests are records.
import { RepositoryFault } from "../git/index.ts";
import { ApiProblem } from "../http/index.ts";
import type { OwnRepositories, PullRequest, PullRequests, SourceHost } from "../scm/index.ts";
import type { GitHost } from "./host.ts";
import type { PullRequestRecord } from "./pull-requests.ts";
import type { HostedRepository } from "./repositories.ts";

export const ownRepositories = (host: GitHost): OwnRepositories => ({
  async nameOf(url) {
    const known = host.readCloneUrl(url);
    // Another server may have come up since we looked.
    if (known === undefined) await host.addresses.learn();
    return (known ?? host.readCloneUrl(url))?.name;
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
    reach: (work) => work({ address: directory, protocol: "file", config: [], variables: {} }),
    notePush: () => host.notePush(repository),
  };
}

function pullRequestsOf(host: GitHost, repository: HostedRepository): PullRequests {
  const store = host.pullRequests(repository);
  const remarks = host.remarks(repository);
  const shown = ({ number, title, body, head, base, state, isDraft }: PullRequestRecord): PullRequest => {
    const url = host.pullRequestUrl(repository.name, number);
    return { number, url, title, body, head, base, state, isDraft };
  };
  return {
    async find(branches) {
      const found = await store.findOpen(branches);
      return found && shown(found);
    },
    async read(url) {
      const named = host.readPullRequestUrl(url);
      if (named?.name !== repository.name) return undefined;
      return store.read(named.number).then(shown, (error) => {
        if (error instanceof ApiProblem) return undefined;
        throw error;
      });
    },
    openDraft: (draft) => store.open({ ...draft, isDraft: true }).then(shown, refuse),
    update: (number, change) => store.change(number, change).then(shown, refuse),
    comment: (number, comment) => remarks.comment(number, comment),
    review: (number, review) => remarks.review(number, review),
    // Nobody is told of pull requests here: whoever may see them is in the team.
    requestReviewers: async () => {},
  };
}

function refuse(error: unknown): never {
  if (!(error instanceof ApiProblem)) throw error;
  throw new RepositoryFault("pull_request_failed", error.message, { cause: error });
}
