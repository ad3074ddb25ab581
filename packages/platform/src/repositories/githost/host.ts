// The platform as a git host: repositories with pull requests, at an address of the platform.
import type { Kysely } from "kysely";
import { recordAuditEvent, type Tables, type Vault } from "../../foundation/index.ts";
import type { CommitSigner } from "../git/index.ts";
import { type Addresses, openAddresses } from "./addresses.ts";
import { rememberHeads } from "./changes.ts";
import { type CommentStore, openComments } from "./comments.ts";
import { openPullRequests, type PullRequestStore } from "./pull-requests.ts";
import { type HostedRepositories, type HostedRepository, isRepositoryName, openRepositories } from "./repositories.ts";

export interface GitHost {
  /** The committer of merges. */
  signer: CommitSigner;
  addresses: Addresses;
  repositories: HostedRepositories;
  pullRequests(repository: HostedRepository): PullRequestStore;
  commentStore(repository: HostedRepository): CommentStore;
  /** Called after a push: moves the heads of open pull requests to the tips of their branches. */
  notePush(repository: HostedRepository): Promise<void>;
  cloneUrl(name: string): string;
  /** The address users open in a browser. */
  pullRequestUrl(name: string, number: number): string;
  /** The repository name and pull request number in any known address of this platform; otherwise undefined. */
  readCloneUrl(url: string): { name: string } | undefined;
  readPullRequestUrl(url: string): { name: string; number: number } | undefined;
}

export interface GitHostOptions {
  db: Kysely<Tables>;
  vault: Vault;
  dataDirectory: string;
  signer: CommitSigner;
  /** Addresses of this server without a trailing slash; the first one is shown to users. */
  serverUrls: () => [string, ...string[]];
}

export function openGitHost({ db, vault, dataDirectory, signer, serverUrls }: GitHostOptions): GitHost {
  const pullRequests = (repository: HostedRepository) => openPullRequests(repository, { db, vault });
  const addresses = openAddresses(db, serverUrls);
  const repositories = openRepositories({ db, dataDirectory });
  return {
    signer,
    addresses,
    repositories,
    pullRequests,
    commentStore: (repository) => openComments(repository, { db, vault }),
    async notePush(repository) {
      await recordAuditEvent(db, { action: "repository.pushed", subject: String(repository.id), data: {} });
      await repositories.updateDefaultBranch(repository);
      await rememberHeads(repository, await pullRequests(repository).openBranches());
    },
    cloneUrl: (name) => `${addresses.shown()}/git/${name}.git`,
    pullRequestUrl: (name, number) => `${addresses.shown()}/git/${name}/pulls/${number}`,
    readCloneUrl(url) {
      const name = addresses.pathOf(url)?.replace(/\.git$/, "");
      return name !== undefined && isRepositoryName(name) ? { name } : undefined;
    },
    readPullRequestUrl(url) {
      const [, name, number] = /^([^/]+)\/pulls\/([1-9]\d{0,8})$/.exec(addresses.pathOf(url) ?? "") ?? [];
      return name === undefined ? undefined : { name, number: Number(number) };
    },
  };
}
