// Every subject of the platform, put together: their routes, and the work that goes on between requests.
import { join } from "node:path";
import { type AgentHost, addAgentRoutes, addDeliveryRoutes, addRunRoutes } from "./agents/index.ts";
import { addArtifactRoutes, openArtifacts } from "./artifacts/index.ts";
import { addCatalogueRoutes } from "./catalogue/index.ts";
import { type GitHost, openDoor, openGitHost, ownRepositories, serveGit, servePullRequests } from "./githost/index.ts";
import { openHandoff } from "./handoff/index.ts";
import type { Api } from "./http/index.ts";
import { type NetworkPolicy, openNetworkPolicy } from "./network/index.ts";
import { addPages } from "./pages/index.ts";
import type { Activity, Platform } from "./platform.ts";
import { openSandboxes, type RunHost, readStory, startRunner } from "./runs/index.ts";
import { openSourceHosts, type SourceHosts } from "./scm/index.ts";
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

/** Whom commits and pull requests of agents name. */
const identity = { name: "platform", email: "agent@platform.invalid" };

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
  const sources = openSourceHosts({
    own: ownRepositories(githost),
    policy: network,
    sshDirectory: join(settings.dataDirectory, "ssh"),
  });
  const workspaces = openWorkspaces({
    dataDirectory: settings.dataDirectory,
    sources,
    locks: openLocks(db),
    limits: usualLimits,
    identity,
  });
  const opened = { platform, hub, githost, network, sources, workspaces, publicUrl };
  return {
    addRoutes: (api) => addRoutes(api, opened),
    async start() {
      await githost.addresses.announce();
      const activities: Activity[] = [];
      if (settings.roles.includes("runner")) activities.push(await startRunner(runHost(opened)));
      if (settings.roles.includes("scheduler")) activities.push(await startDeliveries(platform, deliveryHost(opened)));
      return [...activities, closing(hub)];
    },
  };
}

interface Opened {
  platform: Platform;
  hub: Hub;
  githost: GitHost;
  network: NetworkPolicy;
  sources: SourceHosts;
  workspaces: Workspaces;
  publicUrl(): string;
}

function addRoutes(api: Api, { platform, hub, githost, network, sources, workspaces, publicUrl }: Opened): void {
  const agents: AgentHost = {
    platform,
    workspaces,
    publicUrl,
    checkRepositories: (teamId, repositories) => sources.check(teamId, repositories, AbortSignal.timeout(checkLimitMs)),
    checkReceiver: (url) => checkReceiver(url, network),
  };
  addAgentRoutes(api, agents);
  addRunRoutes(api, platform);
  addDeliveryRoutes(api, platform);
  addStreamRoute(api, platform, hub);
  addArtifactRoutes(api, platform, publicUrl);
  addUsageRoute(api, platform);
  const repositories = async (teamId: number) =>
    (await githost.repositories.list(teamId)).map(({ name }) => githost.cloneUrl(name));
  addCatalogueRoutes(api, platform, repositories);
  addV0Routes(api, agents, repositories);
  addPages({ platform, api, hub, agents, githost });
  const door = openDoor(githost, platform.principals);
  serveGit(api.app, { host: githost, door, log: platform.log });
  servePullRequests(api.app, { host: githost, door });
}

const checkLimitMs = 15_000;

function runHost({ platform, hub, network, sources, workspaces }: Opened): RunHost {
  return {
    platform,
    hub,
    workspaces,
    network,
    sandboxes: openSandboxes(platform.settings),
    artifacts: openArtifacts(platform),
    tellOthers: outboxRow,
    handoff: openHandoff({
      db: platform.db,
      workspaces,
      sources,
      identity,
      readStory: (runId) => readStory(platform, runId),
    }),
  };
}

const deliveryHost = ({ platform, network, publicUrl }: Opened): DeliveryHost => ({
  platform,
  policy: network,
  publicUrl,
  now: () => new Date(),
  limitMs: deliveryLimitMs,
});

const closing = (hub: Hub): Activity => ({ stop: async () => hub.close() });
