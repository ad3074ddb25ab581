// Agents over HTTP: create, list, read, archive, delete.
import type { Agent, Run } from "@agentcli/protocol/api";
import { z } from "zod";
import { type Api, type PlatformContext, schema } from "../../foundation/index.ts";
import type { Principal } from "../../identity/index.ts";
import type { Workspaces } from "../../repositories/index.ts";
import type { AgentAccess } from "../access.ts";
import { findAgent, findRun } from "../store.ts";
import type { CreatedAgent, Submit } from "../submit/index.ts";
import { readMessages } from "../views/conversation.ts";
import { readAgentPage } from "../views/read.ts";
import { agentAsCreated, agentOf, runAsCreated, runOf } from "../views/views.ts";
import { archiveAgent, deleteAgent, unarchiveAgent } from "./archive.ts";
import { promptLimitBytes, submitCall } from "./submission.ts";

export interface AgentHost {
  platform: PlatformContext;
  workspaces: Workspaces;
  access: AgentAccess;
  submit: Submit;
  /** The address for links to this server. */
  publicUrl(): string;
}

const one = () => z.object({ id: z.string() });
const tag = "Agents";

export function addAgentRoutes(api: Api, host: AgentHost): void {
  addCreate(api, host);
  addList(api, host);
  addRead(api, host);
  addConversation(api, host);
  addArchiving(api, host);
  addDelete(api, host);
}

function addCreate(api: Api, host: AgentHost): void {
  const { submit } = host;
  api.route(
    {
      method: "post",
      path: "/v1/agents",
      summary: "Create an agent and start its first run",
      tag,
      scope: "agents:write",
      body: schema("agents", "CreateAgent"),
      bodyLimitBytes: promptLimitBytes,
      answer: { status: 200, schema: schema("agents", "AgentCreated"), description: "The agent and its run" },
      problems: [
        "agent_id_conflict",
        "build_not_found",
        "build_not_ready",
        "idempotency_conflict",
        "invalid_model",
        "repository_access",
        "spend_limit_reached",
      ],
    },
    async (call) => {
      const { body, principal } = call;
      const request = { ...body, webhook: body.webhook && { ...body.webhook, version: "v1" as const } };
      const created = await submitCall(call, (submission) => submit.createAgent(request, submission));
      const { agent: shown, run } = await createdAnswer(host, principal, created);
      // Clients compare it with what they sent, to the letter.
      const id = body.agentId ?? shown.id;
      return { agent: { ...shown, id }, run: { ...run, agentId: id } };
    },
  );
}

/** The same one to every repetition of the request. */
export async function createdAnswer(
  { platform: { db, vault }, publicUrl }: AgentHost,
  { teamId }: Principal,
  { agentId, runId }: CreatedAgent,
): Promise<{ agent: Agent; run: Run }> {
  const agent = await findAgent(db, teamId, agentId);
  const key = await vault.unwrap(agent.data_key);
  const run = runOf(runAsCreated(await findRun(db, agentId, runId)), key, null);
  return { agent: agentOf(agentAsCreated(agent, runId), key, publicUrl()), run };
}

function addList(api: Api, host: AgentHost): void {
  api.route(
    {
      method: "get",
      path: "/v1/agents",
      summary: "List agents, newest first",
      tag,
      scope: "agents:read",
      query: schema("agents", "AgentQuery"),
      answer: { status: 200, schema: schema("agents", "AgentPage"), description: "A page of agents" },
    },
    ({ query: { cursor, ...filter }, principal }) => readAgentPage(host, principal, cursor, filter),
  );
}

function addRead(api: Api, { platform, access, publicUrl }: AgentHost): void {
  const { vault } = platform;
  api.route(
    {
      method: "get",
      path: "/v1/agents/{id}",
      summary: "Read an agent",
      tag,
      scope: "agents:read",
      sharing: "read",
      params: one,
      answer: { status: 200, schema: schema("agents", "Agent"), description: "The agent" },
    },
    async ({ params, principal }) => {
      const row = await access.find(principal, params.id, "read");
      return agentOf(row, await vault.unwrap(row.data_key), publicUrl());
    },
  );
}

function addConversation(api: Api, { platform, access }: AgentHost): void {
  api.route(
    {
      method: "get",
      path: "/v1/agents/{id}/conversation",
      summary: "Read the conversation with an agent, also when its streams are no longer kept",
      tag,
      scope: "agents:read",
      sharing: "read",
      params: one,
      answer: { status: 200, schema: schema("agents", "Conversation"), description: "All messages, oldest first" },
    },
    async ({ params, principal }) => {
      const agent = await access.find(principal, params.id, "read");
      return { id: agent.id, messages: await readMessages(platform, agent) };
    },
  );
}

function addArchiving(api: Api, { platform, access }: AgentHost): void {
  for (const [verb, summary, act] of [
    ["archive", "Archive an agent; an active run is cancelled", archiveAgent],
    ["unarchive", "Unarchive an agent", unarchiveAgent],
  ] as const)
    api.route(
      {
        method: "post",
        path: `/v1/agents/{id}/${verb}`,
        summary,
        tag,
        scope: "agents:write",
        sharing: "manage",
        params: one,
        answer: { status: 200, schema: schema("common", "Acknowledged"), description: "Its id" },
      },
      async ({ params, principal }) => {
        const { id } = await access.find(principal, params.id, "manage");
        await act(platform, id);
        return { id };
      },
    );
}

function addDelete(api: Api, { platform, workspaces, access }: AgentHost): void {
  api.route(
    {
      method: "delete",
      path: "/v1/agents/{id}",
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
