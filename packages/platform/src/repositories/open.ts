// Repositories of agents: their source hosts, access checks, workspaces and the handoff of commits.
import { join } from "node:path";
import {
  type Api,
  type NetworkPolicy,
  openSlotsPerOwner,
  type ServerContext,
  type Subject,
} from "../foundation/index.ts";
import { type Principal, type Principals, type RepositoryReading, teamName } from "../identity/index.ts";
import {
  addAccountRoutes,
  listOnGithub,
  openRepositoryChecks,
  openRepositoryReading,
  openUserAccess,
  personOf,
  type RepositoryChecks,
  reviewersOf,
} from "./accounts/index.ts";
import { addBrowseRoutes } from "./browse/index.ts";
import {
  addCredentialRoutes,
  type CredentialStore,
  listWithCredentials,
  type OfferedRepositories,
  openHostCredentials,
} from "./credentials/index.ts";
import {
  addCreateRoute,
  type CreateRouteOptions,
  type GitHost,
  openAuthenticator,
  openGitHost,
  ownRepositories,
  type RecordEvent,
  serveGit,
  servePullRequests,
} from "./githost/index.ts";
import {
  type CheckOptions,
  type Diffs,
  findPushed,
  type Handoff,
  type HandoffOptions,
  openDiffs,
  openHandoff,
  startChecks,
} from "./handoff/index.ts";
import { openFetchImport } from "./import-url.ts";
import { addPullRequestRoutes } from "./pulls/index.ts";
import {
  type Github,
  type GithubAccounts,
  type HookDeliveries,
  openAccessRules,
  openGithub,
  openSourceHosts,
  type SourceHosts,
  writeCertificates,
} from "./scm/index.ts";
import { openSigningKey, serveSigningKey } from "./signing/index.ts";
import {
  type CommitReader,
  defaultLimits,
  directoryNames,
  mirrorRetention,
  openCommitReader,
  openLocks,
  openWorkspaces,
  unfinishedRetention,
  type Workspaces,
} from "./workspaces/index.ts";

export interface Repositories extends Subject, RepositoryChecks {
  githost: GitHost;
  sources: SourceHosts;
  /** Deliveries of the webhook of the GitHub App; null where there is none. */
  hookDeliveries: HookDeliveries | null;
  /** Accounts that users can connect; null without a GitHub host. */
  accounts: GithubAccounts | null;
  workspaces: Workspaces;
  /** Reads commits without a workspace. */
  commits: CommitReader;
  /** Names of the folders of repositories side by side. */
  namesOf(repositories: { url: string }[]): string[];
  diffs: Diffs;
  reading: RepositoryReading;
  /** Repositories that the principal can start agents on: of the embedded git host, then of connected hosts. */
  list(principal: Principal): Promise<OfferedRepositories>;
  /** Hands off the commits of finished runs. */
  openHandoff(readSummary: HandoffOptions["readSummary"]): Handoff;
  /** Shows the state of runs as checks on their commits until stopped. */
  startChecks(readReport: CheckOptions["readReport"]): { stop(): Promise<void> };
}

/** `recordEvent`: of what happens on the embedded git host. */
export function openRepositories(
  context: ServerContext,
  principals: Principals,
  recordEvent?: RecordEvent,
): Repositories {
  const { db, vault, settings, network, log, publicUrl, serverUrl } = context;
  const { dataDirectory, committer } = settings;
  const signingKey = openSigningKey(settings.signingKey);
  const signer = { platform: committer, sign: signingKey.sign };
  const serverUrls = (): [string, string] => [publicUrl(), serverUrl()];
  const events = recordEvent && { recordEvent };
  const githost = openGitHost({ db, vault, dataDirectory, objects: context.objects, signer, serverUrls, ...events });
  const github = settings.sourceHosts.github && openGithub(settings.sourceHosts.github, settings.variables);
  const accounts = github?.accounts ?? null;
  const sources = sourceHostsOf(context, githost, github);
  const locks = openLocks(db);
  const checkouts = { dataDirectory, sources, locks, limits: defaultLimits, identity: committer };
  const workspaces = openWorkspaces({
    ...checkouts,
    findPushed: (agentId, url) => findPushed(db, { agentId, repoUrl: sources.shown(url) }),
  });
  const fileRetention = { dataDirectory, locks, ...settings.retention, now: Date.now };
  const store = { db, vault };
  const checks = openRepositoryChecks({ sources, userAccess: openUserAccess(store, accounts), publicUrl });
  return {
    githost,
    sources,
    accounts,
    hookDeliveries: github?.deliveries ?? null,
    workspaces,
    commits: openCommitReader(checkouts),
    namesOf: (repositories) => directoryNames(repositories, sources),
    diffs: openDiffs({ db, workspaces, sources }),
    reading: openRepositoryReading({ store, github: accounts, now: Date.now }),
    ...checks,
    list: (principal) => listRepositories({ store, githost, github, sources, policy: network }, principal),
    openHandoff: (readSummary) =>
      openHandoff({
        db,
        vault,
        workspaces,
        sources,
        identity: committer,
        signingKey,
        readSummary,
        reviewersOf: openReviewers(db, { githost, sources }),
        personOf: (runId, url) => personOf({ store, github: accounts }, { runId, url }),
      }),
    startChecks: (readReport) =>
      startChecks({ db, sources, log, readReport, agentUrl: (agentId) => `${publicUrl()}/agents/${agentId}` }),
    routes(api) {
      const { app, admission } = api;
      const authenticator = openAuthenticator({ host: githost, principals, admission });
      serveGit(api, { host: githost, authenticator, log });
      servePullRequests(app, { host: githost, authenticator });
      serveSigningKey(app, signingKey, committer);
      addCredentialRoutes(api, store);
      addAccountRoutes(api, { db, host: accounts?.host ?? null });
      addHostRoutes(api, { db, host: githost, fetchImport: openFetchImport(checkouts, checks) });
    },
    retention: [mirrorRetention(fileRetention), unfinishedRetention(fileRetention)],
    activities: [{ role: "every server", start: () => announceAddresses(githost) }],
  };
}

/** None on the embedded host, where every member of the team sees all pull requests. */
const openReviewers =
  (db: ServerContext["db"], { githost, sources }: Pick<Repositories, "githost" | "sources">) =>
  async (runId: string, url: string): Promise<string[]> =>
    githost.readCloneUrl(url) ? [] : reviewersOf(db, { runId, host: sources.hostOf(url) });

/** The embedded git host in the API. */
function addHostRoutes(api: Api, { db, ...options }: CreateRouteOptions & { db: ServerContext["db"] }): void {
  addCreateRoute(api, options);
  addBrowseRoutes(api, options.host);
  addPullRequestRoutes(api, { db, host: options.host });
}

interface ListingHosts {
  store: CredentialStore;
  githost: GitHost;
  github: Github | null;
  sources: SourceHosts;
  policy: NetworkPolicy;
}

async function listRepositories(
  { store, githost, github, sources, policy }: ListingHosts,
  principal: Principal,
): Promise<OfferedRepositories> {
  const { teamId } = principal;
  const own = (await githost.repositories.list(teamId)).map(({ name }) => githost.cloneUrl(name));
  const [onGithub, offered] = await Promise.all([
    github === null ? [] : listOnGithub(store, github, principal),
    listWithCredentials({ ...store, policy, except: github?.origin }, teamId),
  ]);
  const allowed = await sources.allowed(teamId, [...onGithub, ...offered.urls]);
  return { ...offered, urls: [...own, ...allowed] };
}

function sourceHostsOf(context: ServerContext, githost: GitHost, github: Github | null): SourceHosts {
  const { db, vault, settings, network: policy } = context;
  const nameOf = (teamId: number) => teamName(db, teamId);
  return openSourceHosts({
    own: ownRepositories(githost),
    policy,
    sshDirectory: join(settings.dataDirectory, "ssh"),
    certificateFile: certificatesOf(context),
    rules: openAccessRules({ ...settings.sourceHosts, teamName: nameOf }),
    github,
    credentialsOf: openHostCredentials({ db, vault, policy, teamName: nameOf }),
    slots: openSlotsPerOwner(settings.rateLimits.gitProcesses),
  });
}

/** A server whose disk is full, or whose file is gone, still starts. */
function certificatesOf({ settings, log }: ServerContext): string | undefined {
  const extraFile = settings.variables.NODE_EXTRA_CA_CERTS;
  try {
    return writeCertificates(extraFile, settings.dataDirectory);
  } catch (error) {
    log.warn("git.certificates_unused", { file: extraFile, error: (error as Error).message });
    return undefined;
  }
}

async function announceAddresses(githost: GitHost): Promise<{ stop(): Promise<void> }> {
  await githost.addresses.announce();
  return { stop: async () => {} };
}
