// Every subject of the platform, one line each, in the order in which their routes are documented.
import { openAgents, openV0, touchAgent } from "./agents/index.ts";
import { openAutomations, raiseRunAlert, recordHostEvent, recordOutcome } from "./automations/index.ts";
import { openCloudRoles } from "./cloud-roles/index.ts";
import { type BuildExecutor, openEnvironments } from "./environments/index.ts";
import { openFleet } from "./fleet/index.ts";
import type { ServerContext } from "./foundation/context.ts";
import type { Subject } from "./foundation/subject.ts";
import { type Identity, openIdentity } from "./identity/index.ts";
import { openIdentityTokens } from "./identity-tokens/index.ts";
import { openImages } from "./images/index.ts";
import { openInbox } from "./inbox/index.ts";
import { openInference } from "./inference/index.ts";
import { enqueueDeliveries, enqueueDraftPushes, enqueuePushes, openIntegrations } from "./integrations/index.ts";
import { openMachines } from "./machines/index.ts";
import { openRetention } from "./operations/index.ts";
import { openPages } from "./pages/index.ts";
import { openPreviews } from "./previews/index.ts";
import { openRepositories } from "./repositories/index.ts";
import { openRuns } from "./runs/index.ts";
import { openSecrets } from "./secrets/index.ts";
import { openStatus } from "./status/index.ts";
import { openUsage } from "./usage/index.ts";

export interface Subjects {
  identity: Identity;
  subjects: Subject[];
}

/** What a server has beyond the platform itself. */
export interface Attachments {
  /** Builds environments in place of the server's machines; null: it has none. */
  buildExecutor?: BuildExecutor | null;
}

export async function openSubjects(context: ServerContext, { buildExecutor }: Attachments = {}): Promise<Subjects> {
  const identity = openIdentity(context);
  const { authenticate, principals, sessions } = identity;
  const repositories = openRepositories(context, principals, recordHostEvent(context.vault));
  const machines = openMachines(context.settings);
  const images = openImages({ settings: context.settings, ...machines });
  const building = { machines, images, executor: buildExecutor, announceDraft: enqueueDraftPushes };
  const environments = openEnvironments(context, { authenticate, repositories, ...building });
  const secrets = openSecrets(context, environments.lookup);
  const integrations = openIntegrations(context);
  const identityTokens = openIdentityTokens(context);
  const fleet = openFleet(context, { ...identity, mintIdentity: identityTokens.mint });
  const locations = { checkEnv: fleet.checkEnv, findEnvironment: environments.findNamed };
  const agents = openAgents(context, { repositories, integrations, ...locations });
  const automations = openAutomations(context, { agents: agents.host, repositories, ...locations });
  const runs = await openRuns(context, {
    authenticate,
    repositories,
    findAgent: agents.findAgent,
    endOfRunStatements: { touchAgent, enqueueDeliveries, enqueuePushes, recordOutcome, raiseRunAlert },
    machines,
    secrets,
    serveIdentity: identityTokens.serve,
    cloudRoles: openCloudRoles(context, identityTokens),
    workers: fleet.workers,
    environments: environments.forRuns,
    toolsOf: automations.toolsOf,
    proposeChanges: automations.proposeChanges,
  });
  const viewers = { principals, sessions, findOwned: agents.findOwned };
  const previews = openPreviews(context, { ...viewers, machinesInUse: runs.machinesInUse });
  const inference = openInference(context, { listRepositories: repositories.list });
  const v0 = openV0(context, { agents: agents.host, listRepositories: repositories.list });
  const pages = openPages(context, { identity, agents: agents.host, overview: agents.overview, repositories });
  const subjects: Subject[] = [
    identity,
    machines,
    fleet,
    identityTokens,
    repositories,
    agents,
    runs,
    previews,
    environments,
    secrets,
    automations,
    openInbox(agents.overview),
    openUsage({ platform: context, access: agents.host.access }),
    integrations,
    inference,
    openStatus(context),
    v0,
    pages,
  ];
  const rules = subjects.flatMap(({ retention = [] }) => retention);
  return { identity, subjects: [...subjects, openRetention(context, rules)] };
}
