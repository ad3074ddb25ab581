// Runs over HTTP: follow up, list, read, cancel.
import { z } from "zod";
import { readQueue } from "../../fleet/index.ts";
import { type Api, decodeNumber, schema } from "../../foundation/index.ts";
import { readDiskWait } from "../../runs/index.ts";
import { findRun, readGit } from "../store.ts";
import type { Submission } from "../submit/index.ts";
import { runAsCreated, runOf } from "../views/views.ts";
import type { AgentHost } from "./agents.ts";
import { cancelRun } from "./archive.ts";
import { promptLimitBytes, submitCall } from "./submission.ts";

const ofAgent = () => z.object({ id: z.string() });
const one = () => z.object({ id: z.string(), runId: z.string() });
const tag = "Runs";

export function addRunRoutes(api: Api, host: AgentHost): void {
  addFollowUp(api, host);
  addList(api, host);
  addRead(api, host);
  addCancel(api, host);
}

function addFollowUp(api: Api, { platform, submit }: AgentHost): void {
  const { db, vault } = platform;
  api.route(
    {
      method: "post",
      path: "/v1/agents/{id}/runs",
      summary: "Send an agent a follow-up prompt",
      tag,
      scope: "agents:write",
      sharing: "follow_up",
      params: ofAgent,
      body: schema("runs", "CreateRun"),
      bodyLimitBytes: promptLimitBytes,
      answer: { status: 200, schema: schema("runs", "RunCreated"), description: "The run" },
      problems: [
        "agent_busy",
        "agent_archived",
        "idempotency_conflict",
        "invalid_model",
        "repository_access",
        "spend_limit_reached",
      ],
    },
    async (call) => {
      const { params, body } = call;
      const create = (submission: Submission) => submit.createRun(params.id, body, submission);
      const { agent, runId } = await submitCall(call, create);
      const run = runAsCreated(await findRun(db, agent.id, runId));
      return { run: runOf(run, await vault.unwrap(agent.data_key), null) };
    },
  );
}

function addList(api: Api, host: AgentHost): void {
  const { platform, access } = host;
  const { db, vault } = platform;
  api.route(
    {
      method: "get",
      path: "/v1/agents/{id}/runs",
      summary: "List the runs of an agent, newest first",
      tag,
      scope: "agents:read",
      sharing: "read",
      params: ofAgent,
      query: schema("common", "PageQuery"),
      answer: { status: 200, schema: schema("runs", "RunPage"), description: "A page of runs" },
    },
    async ({ params, query, principal }) => {
      const agent = await access.find(principal, params.id, "read");
      const before = decodeNumber(query.cursor);
      const rows = await db
        .selectFrom("runs")
        .selectAll()
        .where("agent_id", "=", agent.id)
        .where("number", "<", before)
        .orderBy("number", "desc")
        .limit(query.limit + 1)
        .execute();
      const page = rows.slice(0, query.limit);
      const key = await vault.unwrap(agent.data_key);
      const git = await readGit(db, agent.id, key);
      const last = page.at(-1);
      const isMore = rows.length > page.length && last;
      return { items: page.map((row) => runOf(row, key, git)), ...(isMore && { nextCursor: String(last.number) }) };
    },
  );
}

function addRead(api: Api, host: AgentHost): void {
  const { platform, access } = host;
  const { db, vault } = platform;
  api.route(
    {
      method: "get",
      path: "/v1/agents/{id}/runs/{runId}",
      summary: "Read a run",
      tag,
      scope: "agents:read",
      sharing: "read",
      params: one,
      answer: { status: 200, schema: schema("runs", "Run"), description: "The run" },
      problems: ["run_not_found"],
    },
    async ({ params, principal }) => {
      const agent = await access.find(principal, params.id, "read");
      const run = await findRun(db, agent.id, params.runId);
      const key = await vault.unwrap(agent.data_key);
      const readWait = async () => (await readQueue(db, run)) ?? (await readDiskWait(platform, run));
      const [git, queue] = await Promise.all([readGit(db, agent.id, key), readWait()]);
      return { ...runOf(run, key, git), ...(queue && { queue }) };
    },
  );
}

function addCancel(api: Api, { platform, access }: AgentHost): void {
  const { db } = platform;
  api.route(
    {
      method: "post",
      path: "/v1/agents/{id}/runs/{runId}/cancel",
      summary: "Cancel a run",
      tag,
      scope: "agents:write",
      sharing: "manage",
      params: one,
      answer: { status: 200, schema: schema("common", "Acknowledged"), description: "Its id" },
      problems: ["run_not_found", "run_not_cancellable"],
    },
    async ({ params, principal }) => {
      const agent = await access.findToCancel(principal, params.id, params.runId);
      const { id } = await findRun(db, agent.id, params.runId);
      await cancelRun(platform, id);
      return { id };
    },
  );
}
