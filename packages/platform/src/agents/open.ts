// Agents: who may use them, how they and their runs are created, and the API about them.
import type { FindNamedEnvironment } from "../environments/index.ts";
import type { EnvCheck } from "../fleet/index.ts";
import { ApiError, readDataId, type ServerContext, type Subject } from "../foundation/index.ts";
import { followUpsOf, openSharing, type Principal, relationOf } from "../identity/index.ts";
import type { Integrations } from "../integrations/index.ts";
import type { Repositories } from "../repositories/index.ts";
import { type FindReadableAgent, findDiskHolder, readSummary } from "../runs/index.ts";
import { openAgentAccess } from "./access.ts";
import { conversationRetention } from "./conversation-retention.ts";
import { machineRetention } from "./machine-retention.ts";
import { addOverviewRoutes, type OverviewHost } from "./overview/index.ts";
import { copyRetention, deletedRetention, workspaceRetention } from "./retention.ts";
import { type AgentHost, addAgentRoutes } from "./routes/agents.ts";
import { addDeliveryRoutes } from "./routes/deliveries.ts";
import { addDiffRoute } from "./routes/diff.ts";
import { addForkRoutes } from "./routes/fork.ts";
import { addMessageRoutes } from "./routes/messages.ts";
import { addPullRequestRoute } from "./routes/pull-requests.ts";
import { addRunRoutes } from "./routes/runs.ts";
import { addSettingsRoutes } from "./routes/settings.ts";
import { idempotencyRetention, openSubmit } from "./submit/index.ts";
import type { ListedAgent } from "./views/views.ts";

export interface Agents extends Subject {
  host: AgentHost;
  findAgent: FindReadableAgent;
  /** Throws ApiError unless the principal is the owner: neither teammates nor administrators are. */
  findOwned(principal: Principal, agentId: string): Promise<ListedAgent>;
  overview: OverviewHost;
}

export interface AgentsOptions {
  repositories: Repositories;
  integrations: Integrations;
  checkEnv: EnvCheck;
  findEnvironment: FindNamedEnvironment;
}

export function openAgents(context: ServerContext, options: AgentsOptions): Agents {
  const { repositories, integrations, checkEnv, findEnvironment } = options;
  const { db, settings, publicUrl, forwarding } = context;
  const findHolder = (agentId: string) => findDiskHolder(db, agentId, readDataId(settings.dataDirectory));
  const { reading, sources, workspaces, diffs, checkAtCreation, githost } = repositories;
  const sharing = openSharing({
    followUpsOf: (teamId) => followUpsOf(db, teamId),
    reading,
    shown: sources.shown,
    publicUrl,
  });
  const access = openAgentAccess(db, sharing);
  const submit = openSubmit({
    platform: context,
    access,
    checkRepositories: checkAtCreation,
    checkReceiver: integrations.checkReceiver,
    checkEnv,
    findEnvironment,
    shown: sources.shown,
  });
  const host: AgentHost = { platform: context, workspaces, access, submit, publicUrl };
  const handoff = repositories.openHandoff((runId) => readSummary(context, runId));
  const overview: OverviewHost = { platform: context, access, githost, publicUrl };
  return {
    host,
    overview,
    findAgent: (principal, agentId) => access.find(principal, agentId, "read"),
    async findOwned(principal, agentId) {
      const agent = await access.find(principal, agentId, "read");
      if (relationOf(principal, agent) === "owner") return agent;
      throw new ApiError("forbidden", "Only the owner of the agent may use its ports and terminals.");
    },
    retention: [
      idempotencyRetention(db, settings.retention.idempotencyHours),
      conversationRetention({ platform: context, workspaces }),
      workspaceRetention({ platform: context, workspaces }),
      deletedRetention({ platform: context, workspaces }),
      copyRetention({ platform: context, workspaces }),
      machineRetention(context),
    ],
    routes(api) {
      addAgentRoutes(api, host);
      addForkRoutes(api, host);
      addOverviewRoutes(api, overview);
      addRunRoutes(api, host);
      addMessageRoutes(api, host);
      addPullRequestRoute(api, { ...host, handoff, forwarding, findHolder });
      addDiffRoute(api, { ...host, diffs, forwarding, findHolder });
      addDeliveryRoutes(api, host);
      addSettingsRoutes(api, context);
    },
  };
}
