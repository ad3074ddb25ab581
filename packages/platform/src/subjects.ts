// Every subject of the platform, put together: their routes, and the work that goes on between requests.
import { join } from "node:path";
import {
  type AccessRefusal,
  openRepositoryReading,
  openUserAccess,
  personOf,
  reviewersOf,
  type UserAccess,
} from "./accounts/index.ts";
import {
  type AgentAccess,
  type AgentHost,
  addAgentRoutes,
  addDeliveryRoutes,
  addDiffRoute,
  addRunRoutes,
  openAgentAccess,
} from "./agents/index.ts";
import { addArtifactRoutes, openArtifacts } from "./artifacts/index.ts";
import { keepAnchor } from "./audit/index.ts";
import { addCatalogueRoutes } from "./catalogue/index.ts";
import type { AgentRepository } from "./db/index.ts";
import { RepositoryFault } from "./git/index.ts";
import { type GitHost, openDoor, openGitHost, ownRepositories, serveGit, servePullRequests } from "./githost/index.ts";
import { type CheckOptions, openDiffs, openHandoff, startChecks } from "./handoff/index.ts";
import { type Api, ApiProblem } from "./http/index.ts";
import { addInferenceUsageRoute, type Inference, openInference } from "./inference/index.ts";
import { type NetworkPolicy, openNetworkPolicy } from "./network/index.ts";
import { openOidc } from "./oidc/index.ts";
import { addPages } from "./pages/index.ts";
import type { Activity, Platform } from "./platform.ts";
import type { Principal } from "./principals/index.ts";
import { openSandboxes, type RunHost, readReport, readStory, startRunner } from "./runs/index.ts";
import { type Github, openAccessRules, openGithub, openSourceHosts, type SourceHosts } from "./scm/index.ts";
import { openSharing } from "./sharing/index.ts";
import { openSigningKey, type SigningKey, serveSigningKey } from "./signing/index.ts";
import { addStreamRoute, type Hub, openHub, readFrames } from "./streams/index.ts";
import { addUsageRoute } from "./usage/index.ts";
import { addV0Routes } from "./v0/index.ts";
import { checkReceiver, type DeliveryHost, deliveryLimitMs, outboxRow, startDeliveries } from "./webhooks/index.ts";
import { openLocks, openWorkspaces, usualLimits, type Workspaces } from "./workspaces/index.ts";

export interface Subjects {
  addRoutes(api: Api): void;
  /** Those of this server's roles. */
  start(): Promise<Activity[]>;
}

/** `serverUrl` is known once the server listens, before the first request. */
export async function openSubjects(platform: Platform, serverUrl: () => string): Promise<Subjects> {
  const { db, vault, settings, notifications } = platform;
  const hub = await openHub(readFrames(db, vault), notifications);
  const publicUrl = () => settings.publicUrl ?? serverUrl();
  const githost = openGitHost({
    db,
    vault,
    dataDirectory: settings.dataDirectory,
    serverUrls: () => [publicUrl(), serverUrl()],
  });
  const network = openNetworkPolicy({ allowPrivate: settings.allowPrivate });
  const github = settings.sourceHosts.github && openGithub(settings.sourceHosts.github, settings.variables);
  const sources = openSourceHosts({
    own: ownRepositories(githost),
    policy: network,
    sshDirectory: join(settings.dataDirectory, "ssh"),
    rules: openAccessRules({ ...settings.sourceHosts, teamName: (teamId) => teamName(db, teamId) }),
    github,
  });
  const userAccess = openUserAccess({ db, vault }, github?.accounts ?? null);
  const workspaces = openWorkspaces({
    dataDirectory: settings.dataDirectory,
    sources,
    locks: openLocks(db),
    limits: usualLimits,
    identity: settings.committer,
  });
  const signingKey = openSigningKey(settings.signingKey);
  const inference = openInference(platform);
  const opened = {
    platform,
    inference,
    hub,
    githost,
    network,
    sources,
    github,
    userAccess,
    workspaces,
    signingKey,
    publicUrl,
  };
  return {
    addRoutes: (api) => addRoutes(api, opened),
    async start() {
      await githost.addresses.announce();
      const activities: Activity[] = [await keepAnchor(platform), inference];
      if (settings.roles.includes("runner")) activities.push(await startRunner(runHost(opened)));
      if (settings.roles.includes("scheduler"))
        activities.push(await startDeliveries(platform, deliveryHost(opened)), startChecks(checkOptions(opened)));
      return [...activities, closing(hub)];
    },
  };
}

interface Opened {
  platform: Platform;
  inference: Inference;
  hub: Hub;
  githost: GitHost;
  network: NetworkPolicy;
  sources: SourceHosts;
  github: Github | null;
  userAccess: UserAccess;
  workspaces: Workspaces;
  signingKey: SigningKey;
  publicUrl(): string;
}

function addRoutes(api: Api, opened: Opened): void {
  const { platform, hub, githost, network, workspaces, publicUrl } = opened;
  const agents: AgentHost = {
    platform,
    workspaces,
    access: agentAccess(opened),
    publicUrl,
    checkRepositories: (principal, repositories) => checkAtCreation(opened, principal, repositories),
    checkReceiver: (url) => checkReceiver(url, network),
  };
  addAgentRoutes(api, agents);
  addRunRoutes(api, agents);
  const diffs = openDiffs({ db: platform.db, workspaces, sources: opened.sources });
  addDiffRoute(api, agents, diffs);
  addDeliveryRoutes(api, agents);
  const checkReader = async (principal: Principal, agentId: string): Promise<void> =>
    void (await agents.access.find(principal, agentId, "read"));
  const streams = { platform, hub, checkReader };
  addStreamRoute(api, streams);
  addArtifactRoutes(api, agents);
  addUsageRoute(api, agents);
  opened.inference.addRoute(api);
  addInferenceUsageRoute(api, platform);
  const repositories = async (teamId: number) =>
    (await githost.repositories.list(teamId)).map(({ name }) => githost.cloneUrl(name));
  addCatalogueRoutes(api, platform, repositories);
  addV0Routes(api, agents, repositories);
  const { oidc: provider } = platform.settings;
  const oidc = provider && openOidc({ platform, settings: provider, policy: network, publicUrl });
  addPages({ platform, api, streams, agents, diffs, githost, github: opened.github?.accounts ?? null, oidc });
  const door = openDoor(githost, platform.principals);
  serveGit(api.app, { host: githost, door, log: platform.log });
  servePullRequests(api.app, { host: githost, door });
  serveSigningKey(api.app, opened.signingKey, platform.settings.committer);
}

function agentAccess({ platform, sources, github, publicUrl }: Opened): AgentAccess {
  const { db, vault } = platform;
  const reading = openRepositoryReading({ store: { db, vault }, github: github?.accounts ?? null, now: Date.now });
  const followUpsOf = async (teamId: number) =>
    (await db.selectFrom("teams").select("follow_ups").where("id", "=", teamId).executeTakeFirstOrThrow()).follow_ups;
  return openAgentAccess(db, openSharing({ followUpsOf, reading, shown: sources.shown, publicUrl }));
}

const checkLimitMs = 15_000;

async function checkAtCreation(
  { sources, userAccess, publicUrl }: Opened,
  principal: Principal,
  repositories: AgentRepository[],
): Promise<void> {
  const signal = AbortSignal.timeout(checkLimitMs);
  await sources.check(principal.teamId, repositories, signal);
  const userId = principal.kind === "user" ? principal.userId : null;
  for (const [index, { url }] of repositories.entries()) {
    const refusal = await userAccess.refusal(userId, url, signal);
    if (refusal === undefined) continue;
    const message = `repos[${index}].url: ${refusal.reason}.`;
    throw new ApiProblem(refusal.code, message, { members: membersOf(refusal, publicUrl()) });
  }
}

const membersOf = ({ code }: AccessRefusal, url: string): Record<string, string> =>
  code === "integration_not_connected" ? { helpUrl: `${url}/accounts`, provider: "github" } : {};

async function checkAtRun({ userAccess, sources }: Opened, asker: Asker, signal: AbortSignal): Promise<void> {
  for (const url of asker.urls) {
    const refusal = await userAccess.refusal(asker.userId, url, signal);
    if (refusal !== undefined) throw new RepositoryFault(refusal.code, `${sources.shown(url)}: ${refusal.reason}.`);
  }
}

interface Asker {
  userId: number | null;
  urls: string[];
}

function runHost(opened: Opened): RunHost {
  const { platform, hub, network, sources, github, workspaces, signingKey } = opened;
  return {
    platform,
    hub,
    workspaces,
    network,
    sandboxes: openSandboxes(platform.settings),
    artifacts: openArtifacts(platform),
    checkRepositories: (userId, urls, signal) => checkAtRun(opened, { userId, urls }, signal),
    tellOthers: outboxRow,
    handoff: openHandoff({
      db: platform.db,
      workspaces,
      sources,
      identity: platform.settings.committer,
      signingKey,
      readStory: (runId) => readStory(platform, runId),
      reviewersOf: (runId, url) => reviewersOf(platform.db, { runId, host: sources.hostOf(url) }),
      personOf: (runId, url) => personOf({ store: platform, github: github?.accounts ?? null }, { runId, url }),
    }),
  };
}

const checkOptions = ({ platform, sources, publicUrl }: Opened): CheckOptions => ({
  db: platform.db,
  sources,
  log: platform.log,
  readReport: (runId) => readReport(platform, runId),
  agentUrl: (agentId) => `${publicUrl()}/agents/${agentId}`,
});

const deliveryHost = ({ platform, network, publicUrl }: Opened): DeliveryHost => ({
  platform,
  policy: network,
  publicUrl,
  now: () => new Date(),
  limitMs: deliveryLimitMs,
});

const closing = (hub: Hub): Activity => ({ stop: async () => hub.close() });

const teamName = async (db: Platform["db"], teamId: number): Promise<string | undefined> =>
  (await db.selectFrom("teams").select("name").where("id", "=", teamId).executeTakeFirst())?.name;
