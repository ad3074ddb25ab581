// The platform as a git host: repositories with pull requests, at an address of its own.
import type { Kysely } from "kysely";
import { noteHappening, type Tables } from "../db/index.ts";
import type { Vault } from "../vault/index.ts";
import { type Addresses, openAddresses } from "./addresses.ts";
import { rememberHeads } from "./changes.ts";
import { openPullRequests, type PullRequestStore } from "./pull-requests.ts";
import { openRemarks, type RemarkStore } from "./remarks.ts";
import { type HostedRepositories, type HostedRepository, isRepositoryName, openRepositories } from "./repositories.ts";

export interface GitHost {
  addresses: Addresses;
  repositories: HostedRepositories;
  pullRequests(repository: HostedRepository): PullRequestStore;
  remarks(repository: HostedRepository): RemarkStore;
  /** After a push: heads of open pull requests are where their branches are. */
  notePush(repository: HostedRepository): Promise<void>;
  cloneUrl(name: string): string;
  /** Where people read it. */
  pullRequestUrl(name: string, number: number): string;
  /** The name and number in addresses of ours, with whatever of our hosts they were written; else undefined. */
  readCloneUrl(url: string): { name: string } | undefined;
  readPullRequestUrl(url: string): { name: string; number: number } | undefined;
}

export interface GitHostOptions {
  db: Kysely<Tables>;
  vault: Vault;
  dataDirectory: string;
  /** Where this server is reached, without a slash at the end; the first is the one that is shown. */
  serverUrls: () => [string, ...string[]];
}

export function openGitHost({ db, vault, dataDirectory, serverUrls }: GitHostOptions): GitHost {
  const pullRequests = (repository: HostedRepository) => openPullRequests(repository, { db, vault });
  const addresses = openAddresses(db, serverUrls);
  const repositories = openRepositories({ db, dataDirectory });
  return {
    addresses,
    repositories,
    pullRequests,
    remarks: (repository) => openRemarks(repository, { db, vault }),
    async notePush(repository) {
      await noteHappening(db, { action: "repository.pushed", subject: String(repository.id), data: {} });
      await repositories.adoptBranch(repository);
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
