// Messages that enter the conversation of an active run, before its next request to the model.
import { z } from "zod";
import { type Api, ApiError, schema } from "../../foundation/index.ts";
import { refuseFormerUser, relationOf } from "../../identity/index.ts";
import { addMessage, listMessages } from "../../runs/index.ts";
import { findRun, lockAgent } from "../store.ts";
import type { AgentHost } from "./agents.ts";

const one = () => z.object({ id: z.string(), runId: z.string() });
const path = "/v1/agents/{id}/runs/{runId}/messages";
const tag = "Runs";

export function addMessageRoutes(api: Api, host: AgentHost): void {
  addCreate(api, host);
  addList(api, host);
}

function addCreate(api: Api, { platform, access }: AgentHost): void {
  const { db, vault } = platform;
  api.route(
    {
      method: "post",
      path,
      summary: "Add a message to an active run",
      tag,
      scope: "agents:write",
      sharing: "follow_up",
      params: one,
      body: schema("runs", "CreateRunMessage"),
      answer: { status: 200, schema: schema("runs", "RunMessage"), description: "The message" },
      problems: ["run_not_found", "run_not_active", "message_limit_reached", "idempotency_conflict"],
    },
    async ({ params, principal, body: { text }, header }) => {
      const agent = await access.find(principal, params.id, "follow_up");
      const run = await findRun(db, agent.id, params.runId);
      // The run reaches what its requester reaches: a message of another person would act with that.
      if (relationOf(principal, run) !== "owner")
        throw new ApiError("forbidden", "Only who started the run can add to it. Send a follow-up when it has ended.");
      const key = await vault.unwrap(agent.data_key);
      const message = { runId: run.id, text, idempotencyKey: header("idempotency-key") ?? null };
      return db.transaction().execute(async (tx) => {
        await lockAgent(tx, agent.id);
        await refuseFormerUser(tx);
        return addMessage(tx, key, message);
      });
    },
  );
}

function addList(api: Api, { platform, access }: AgentHost): void {
  const { db, vault } = platform;
  api.route(
    {
      method: "get",
      path,
      summary: "List the messages that were added to a run",
      tag,
      scope: "agents:read",
      sharing: "read",
      params: one,
      answer: { status: 200, schema: schema("runs", "RunMessageList"), description: "All, oldest first" },
      problems: ["run_not_found"],
    },
    async ({ params, principal }) => {
      const agent = await access.find(principal, params.id, "read");
      const { id } = await findRun(db, agent.id, params.runId);
      return { items: await listMessages(db, await vault.unwrap(agent.data_key), id) };
    },
  );
}
