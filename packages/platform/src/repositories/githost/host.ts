// The platform as a git host: repositories with pull requests, at an address of the platform.
import type { Kysely } from "kysely";
import { type Objects, recordAuditEvent, type Tables, type Vault } from "../../foundation/index.ts";
import type { CommitSigner } from "../git/index.ts";
import type { PushedCommit } from "../scm/index.ts";
import { openLocks } from "../workspaces/index.ts";
import { type Addresses, openAddresses } from "./addresses.ts";
import { rememberHeads } from "./changes.ts";
import { type CommentStore, openComments } from "./comments.ts";
import { openEventRecorder, type RecordEvent } from "./events.ts";
import type { HostedRepository } from "./hosted-repository.ts";
import { joinPacks } from "./join-packs.ts";
import { type LabelStore, openLabels } from "./labels.ts";
import { openPullRequests, type PullRequestStore } from "./pull-requests.ts";
import { recordPushes } from "./pushes.ts";
import { type HostedRepositories, hostedLayout, isRepositoryName, openRepositories } from "./repositories.ts";
import { openSharedRepositories } from "./shared-repositories.ts";
import { openStatuses, type StatusStore } from "./statuses.ts";

export interface GitHost {
  /** The committer of merges. */
  signer: CommitSigner;
  addresses: Addresses;
  repositories: HostedRepositories;
  pullRequests(repository: HostedRepository): PullRequestStore;
  commentStore(repository: HostedRepository): CommentStore;
  /** Labels of pull requests, and statuses of commits. */
  marks(repository: HostedRepository): { labels: LabelStore; statuses: StatusStore };
  /** Called after a push by `actor`: moves the heads of open pull requests to the tips of their branches. */
  notePush(repository: HostedRepository, actor: string, commit?: PushedCommit): Promise<void>;
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
  /** Absent in programs that use one data directory. */
  objects?: Objects;
  signer: CommitSigner;
  /** Addresses of this server without a trailing slash; the first one is shown to users. */
  serverUrls: () => [string, ...string[]];
  /** Absent in programs that change no repository. */
  recordEvent?: RecordEvent;
}

export function openGitHost(options: GitHostOptions): GitHost {
  const { db, vault, dataDirectory, signer, serverUrls, recordEvent = async () => {} } = options;
  const addresses = openAddresses(db, serverUrls);
  const shared =
    options.objects?.isShared === true
      ? openSharedRepositories({ db, vault, store: options.objects.store, locks: openLocks(db), layout: hostedLayout })
      : undefined;
  const repositories = openRepositories({ db, dataDirectory, shared });
  const repositoryUrl = (name: string) => `${addresses.shown()}/git/${name}`;
  const pullRequestUrl = (name: string, number: number) => `${repositoryUrl(name)}/pulls/${number}`;
  const eventsOf = (repository: HostedRepository) =>
    openEventRecorder(repository, { recordEvent, repositoryUrl, pullRequestUrl });
  const storeOf = (repository: HostedRepository) => ({ db, vault, events: eventsOf(repository) });
  const pullRequests = (repository: HostedRepository) => openPullRequests(repository, storeOf(repository));
  return {
    signer,
    addresses,
    repositories,
    pullRequests,
    commentStore: (repository) => openComments(repository, storeOf(repository)),
    marks: (repository) => ({
      labels: openLabels(repository, storeOf(repository)),
      statuses: openStatuses(repository, storeOf(repository)),
    }),
    async notePush(repository, sender, commit) {
      await repositories.publish(repository);
      await recordAuditEvent(db, { action: "repository.pushed", subject: String(repository.id), data: {} });
      await repositories.updateDefaultBranch(repository);
      const pulls = pullRequests(repository);
      const openPulls = await pulls.listOpen();
      await rememberHeads(repository, openPulls);
      await repositories.publish(repository);
      const { isShared } = repositories;
      const events = eventsOf(repository);
      await recordPushes({ db, repository, events, openPulls, pulls, sender, isShared, commit });
      // Where each server has a copy, the packs are published by their names.
      if (!isShared) await joinPacks(repository);
    },
    cloneUrl: (name) => `${repositoryUrl(name)}.git`,
    pullRequestUrl,
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
