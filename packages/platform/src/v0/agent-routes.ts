// Agents through v0: create, list, read, follow up, stop, delete, and what was said.
import {
  Acknowledged,
  V0Agent,
  V0AgentPage,
  V0AgentQuery,
  V0Conversation,
  V0Create,
  V0Followup,
} from "@agentcli/protocol/api";
import { z } from "zod";
import {
  type AgentHost,
  cancelRun,
  checkModel,
  createAgent,
  createRun,
  deleteAgent,
  findToFollowUp,
  makeOnce,
  promptLimitBytes,
} from "../agents/index.ts";
import { type Api, ApiProblem } from "../http/index.ts";
import { readMessages } from "./conversation.ts";
import { readAgent, readNewAgent, readPage } from "./read.ts";
import { promptOf, refusedInOldWords, wishOf } from "./wish.ts";

const one = z.object({ id: z.string() });
const tag = "v0";

export function addAgentRoutes(api: Api, host: AgentHost): void {
  addCreate(api, host);
  addReading(api, host);
  addConversation(api, host);
  addFollowup(api, host);
  addStop(api, host);
  addDelete(api, host);
}

function addCreate(api: Api, host: AgentHost): void {
  const { platform } = host;
  api.route(
    {
      method: "post",
      path: "/v0/agents",
      summary: "Create an agent and start it",
      tag,
      scope: "agents:write",
      body: V0Create,
      bodyLimitBytes: promptLimitBytes,
      answer: { status: 200, schema: V0Agent, description: "The agent" },
      problems: ["idempotency_conflict", "invalid_model", "repository_access", "spend_limit_reached"],
    },
    async (call) => {
      const { body, principal } = call;
      const wish = wishOf(body);
      await refusedInOldWords(async () => {
        checkModel(wish.model, platform.settings);
        await host.checkRepositories(principal, wish.repos ?? []);
      });
      if (wish.webhook) await host.checkReceiver(wish.webhook.url);
      const made = await makeOnce(platform, call, (making) => createAgent(making, wish));
      return readNewAgent(host, await host.access.find(principal, made.agentId, "read"));
    },
  );
}

function addReading(api: Api, host: AgentHost): void {
  api.route(
    {
      method: "get",
      path: "/v0/agents",
      summary: "List agents, newest first",
      tag,
      scope: "agents:read",
      query: V0AgentQuery,
      answer: { status: 200, schema: V0AgentPage, description: "A page of agents" },
    },
    ({ query, principal }) => readPage(host, principal, query),
  );
  api.route(
    {
      method: "get",
      path: "/v0/agents/{id}",
      summary: "Read an agent",
      tag,
      scope: "agents:read",
      sharing: "read",
      params: one,
      answer: { status: 200, schema: V0Agent, description: "The agent" },
    },
    async ({ params, principal }) => readAgent(host, await host.access.find(principal, params.id, "read")),
  );
}

function addConversation(api: Api, { platform, access }: AgentHost): void {
  api.route(
    {
      method: "get",
      path: "/v0/agents/{id}/conversation",
      summary: "Read what was said to an agent and by it",
      tag,
      scope: "agents:read",
      sharing: "read",
      params: one,
      answer: { status: 200, schema: V0Conversation, description: "All messages, oldest first" },
    },
    async ({ params, principal }) => {
      const agent = await access.find(principal, params.id, "read");
      return { id: agent.id, messages: await readMessages(platform, agent) };
    },
  );
}

function addFollowup(api: Api, host: AgentHost): void {
  const { platform } = host;
  api.route(
    {
      method: "post",
      path: "/v0/agents/{id}/followup",
      summary: "Give an agent another prompt; one that was stopped starts again",
      tag,
      scope: "agents:write",
      sharing: "follow_up",
      params: one,
      body: V0Followup,
      bodyLimitBytes: promptLimitBytes,
      answer: { status: 200, schema: Acknowledged, description: "Its id" },
      problems: ["agent_busy", "agent_archived", "idempotency_conflict", "repository_access", "spend_limit_reached"],
    },
    async (call) => {
      const { params, body, principal } = call;
      const agent = await findToFollowUp(host, principal, params.id);
      const prompt = promptOf(body.prompt);
      await makeOnce(platform, call, (making) => createRun(making, agent.id, { prompt }));
      return { id: agent.id };
    },
  );
}

function addStop(api: Api, { platform, access }: AgentHost): void {
  api.route(
    {
      method: "post",
      path: "/v0/agents/{id}/stop",
      summary: "Stop an agent that is running; a follow-up starts it again",
      tag,
      scope: "agents:write",
      sharing: "manage",
      params: one,
      answer: { status: 200, schema: Acknowledged, description: "Its id" },
      problems: ["run_not_cancellable"],
    },
    async ({ params, principal }) => {
      const { id, busy, latest_run_id } = await access.findToCancel(principal, params.id, "latest");
      if (!busy || latest_run_id === null) throw new ApiProblem("run_not_cancellable", `Agent ${id} is not running.`);
      await cancelRun(platform, latest_run_id);
      return { id };
    },
  );
}

function addDelete(api: Api, { platform, workspaces, access }: AgentHost): void {
  api.route(
    {
      method: "delete",
      path: "/v0/agents/{id}",
      summary: "Delete an agent with its conversation and artifacts",
      tag,
      scope: "agents:write",
      sharing: "manage",
      params: one,
      answer: { status: 200, schema: Acknowledged, description: "Its id" },
    },
    async ({ params, principal }) => {
      const { id } = await access.find(principal, params.id, "manage");
      await deleteAgent(platform, workspaces, id);
      return { id };
    },
  );
}
