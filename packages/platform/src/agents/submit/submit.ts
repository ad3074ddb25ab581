// The one way to create agents and runs: every client translates its input into a request and submits it here.
import type { ForkAgent, ForkPreview } from "@agentcli/protocol/api";
import type { FindNamedEnvironment, NamedEnvironment } from "../../environments/index.ts";
import type { EnvCheck } from "../../fleet/index.ts";
import type { PlatformContext } from "../../foundation/index.ts";
import type { Principal } from "../../identity/index.ts";
import { readStartSettings, relationOf, settingsOfTeam } from "../../identity/index.ts";
import type { AgentAccess } from "../access.ts";
import type { ListedAgent } from "../views/views.ts";
import { checkedDefault, defaultModel } from "./default-model.ts";
import { planFork, previewOf, requestOf } from "./fork.ts";
import { type IdempotencyKey, once } from "./idempotency.ts";
import {
  type CreateAgentRequest,
  type CreatedIds,
  type CreateRunRequest,
  insertAgent,
  insertFollowUp,
  type Requester,
} from "./insert.ts";
import { checkModel, checkModels, type RepositoryCheck } from "./policy.ts";

export interface Submission extends Requester {
  /** Null: the client does not repeat requests. */
  idempotencyKey: IdempotencyKey | null;
}

/** `replayed`: an earlier request with the same idempotency key created it. */
export type CreatedAgent = CreatedIds & { replayed: boolean };
export type CreatedRun = CreatedAgent & { agent: ListedAgent };

export interface Submit {
  /** What a fork of the agent, which the principal may read, would start with. Throws ApiError. */
  previewFork(principal: Principal, agentId: string, runId: string | undefined): Promise<ForkPreview>;
  /** A new agent that begins with the conversation of another. Throws ApiError; nothing is created then. */
  forkAgent(agentId: string, request: ForkAgent, submission: Submission): Promise<CreatedAgent>;
  /** Throws ApiError; nothing is created then. */
  createAgent(request: CreateAgentRequest, submission: Submission): Promise<CreatedAgent>;
  /** Throws ApiError; nothing is created then. */
  createRun(agentId: string, request: CreateRunRequest, submission: Submission): Promise<CreatedRun>;
}

export interface SubmitOptions {
  platform: PlatformContext;
  access: AgentAccess;
  /** Throws ApiError for a repository that the team, or this user, may not use. */
  checkRepositories: RepositoryCheck;
  /** Throws ApiError for a place to work that there is not. */
  checkEnv: EnvCheck;
  findEnvironment: FindNamedEnvironment;
  /** A repository URL as shown to users. */
  shown(url: string): string;
  /** Throws ApiError for an address that no webhook may be sent to. */
  checkReceiver(url: string): Promise<void>;
}

export function openSubmit(options: SubmitOptions): Submit {
  const { platform, access, checkRepositories, checkReceiver, checkEnv, findEnvironment } = options;
  const planned = async (principal: Principal, agentId: string, runId: string | undefined) => {
    const agent = await access.find(principal, agentId, "read");
    return planFork(platform, { principal, agent, runId, shown: options.shown });
  };
  const submit: Submit = {
    previewFork: async (principal, agentId, runId) => previewOf(await planned(principal, agentId, runId)),
    async forkAgent(agentId, request, requester) {
      const plan = await planned(requester.principal, agentId, request.runId);
      return submit.createAgent(requestOf(plan, request), requester);
    },
    async createAgent(given, requester) {
      const { principal } = requester;
      const { settings, defaultModels } = await readStartSettings(platform, {
        teamId: principal.teamId,
        userId: principal.kind === "user" ? principal.userId : null,
      });
      const model = given.model ?? checkedDefault(defaultModel(defaultModels), settings) ?? undefined;
      checkModels({ ...given, model }, settings);
      await checkEnv(principal, given);
      const environment = await findEnvironment(principal, given.env);
      const request = { ...given, model, ...(environment && inEnvironment(given, environment)) };
      await checkRepositories(principal, request.repos ?? []);
      if (request.webhook) await checkReceiver(request.webhook.url);
      const context = { platform: { ...platform, settings }, requester };
      return once(platform, requester, (tx) => insertAgent({ tx, ...context }, request));
    },
    async createRun(agentId, request, requester) {
      const { principal } = requester;
      const agent = await access.find(principal, agentId, "follow_up");
      // The run can reach what its requester can, which may be less than the agent's owner: refused before it begins.
      if (relationOf(principal, agent) !== "owner") await checkRepositories(principal, agent.settings.repos);
      const settings = await settingsOfTeam(platform, principal.teamId);
      checkModel(request.model, settings);
      const created = await once(platform, requester, (tx) =>
        insertFollowUp({ tx, platform: { ...platform, settings }, requester }, agent.id, request),
      );
      return { ...created, agent };
    },
  };
  return submit;
}

/** Its repositories are the agent's, with its name where only a build was named. */
const inEnvironment = (
  { env }: CreateAgentRequest,
  { name, repos }: NamedEnvironment,
): Pick<CreateAgentRequest, "env" | "repos"> => ({ env: { ...env, type: "cloud", name }, repos });
