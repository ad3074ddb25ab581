// Agents through v0: create, list, read, follow up, stop, delete, and the conversation.
import { z } from "zod";
import { type Api, ApiError, schema } from "../../foundation/index.ts";
import type { AgentHost } from "../routes/agents.ts";
import { cancelRun, deleteAgent } from "../routes/archive.ts";
import { promptLimitBytes, submitCall } from "../routes/submission.ts";
import type { Submission } from "../submit/index.ts";
import { readMessages } from "../views/conversation.ts";
import { readAgent, readNewAgent, readPage } from "./read.ts";
import { promptOf, toCreateAgentRequest, toV0Error } from "./request.ts";

const one = () => z.object({ id: z.string() });
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
  api.route(
    {
      method: "post",
      path: "/v0/agents",
      summary: "Create an agent and start it",
      tag,
      scope: "agents:write",
      body: schema("v0", "V0Create"),
      bodyLimitBytes: promptLimitBytes,
      answer: { status: 200, schema: schema("v0", "V0Agent"), description: "The agent" },
      problems: ["idempotency_conflict", "invalid_model", "repository_access", "spend_limit_reached"],
    },
    async (call) => {
      const { body, principal } = call;
      const request = toCreateAgentRequest(body);
      const create = (submission: Submission) => host.submit.createAgent(request, submission);
      const { agentId } = await submitCall(call, (submission) => toV0Error(() => create(submission)));
      return readNewAgent(host, await host.access.find(principal, agentId, "read"));
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
      query: schema("v0", "V0AgentQuery"),
      answer: { status: 200, schema: schema("v0", "V0AgentPage"), description: "A page of agents" },
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
      answer: { status: 200, schema: schema("v0", "V0Agent"), description: "The agent" },
    },
    async ({ params, principal }) => readAgent(host, await host.access.find(principal, params.id, "read")),
  );
}

function addConversation(api: Api, { platform, access }: AgentHost): void {
  api.route(
    {
      method: "get",
      path: "/v0/agents/{id}/conversation",
      summary: "Read the conversation with an agent",
      tag,
      scope: "agents:read",
      sharing: "read",
      params: one,
      answer: { status: 200, schema: schema("v0", "V0Conversation"), description: "All messages, oldest first" },
    },
    async ({ params, principal }) => {
      const agent = await access.find(principal, params.id, "read");
      const messages = await readMessages(platform, agent);
      return { id: agent.id, messages: messages.map(({ id, type, text }) => ({ id, type, text })) };
    },
  );
}

function addFollowup(api: Api, { submit }: AgentHost): void {
  api.route(
    {
      method: "post",
      path: "/v0/agents/{id}/followup",
      summary: "Send an agent a follow-up prompt; one that was stopped starts again",
      tag,
      scope: "agents:write",
      sharing: "follow_up",
      params: one,
      body: schema("v0", "V0Followup"),
      bodyLimitBytes: promptLimitBytes,
      answer: { status: 200, schema: schema("common", "Acknowledged"), description: "Its id" },
      problems: ["agent_busy", "agent_archived", "idempotency_conflict", "repository_access", "spend_limit_reached"],
    },
    async (call) => {
      const { params, body } = call;
      const prompt = promptOf(body.prompt);
      const { agentId } = await submitCall(call, (submission) => submit.createRun(params.id, { prompt }, submission));
      return { id: agentId };
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
      answer: { status: 200, schema: schema("common", "Acknowledged"), description: "Its id" },
      problems: ["run_not_cancellable"],
    },
    async ({ params, principal }) => {
      const { id, busy, latest_run_id } = await access.findToCancel(principal, params.id, "latest");
      if (!busy || latest_run_id === null) throw new ApiError("run_not_cancellable", `Agent ${id} is not running.`);
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
      answer: { status: 200, schema: schema("common", "Acknowledged"), description: "Its id" },
    },
    async ({ params, principal }) => {
      const { id } = await access.find(principal, params.id, "manage");
      await deleteAgent(platform, workspaces, id);
      return { id };
    },
  );
}
