// `GET /v1/agents/{id}/runs/{runId}/subagents…`
import { z } from "zod";
import { type Api, type PlatformContext, schema } from "../../foundation/index.ts";
import type { FindReadableAgent } from "../agent-reader.ts";
import { listSubagents, readSubagent } from "./read.ts";

const path = "/v1/agents/{id}/runs/{runId}/subagents";
const tag = "Runs";

export interface SubagentHost {
  platform: PlatformContext;
  findAgent: FindReadableAgent;
}

export function addSubagentRoutes(api: Api, { platform, findAgent }: SubagentHost): void {
  api.route(
    {
      method: "get",
      path,
      summary: "List the sub-agents of a run, at all levels",
      tag,
      scope: "agents:read",
      sharing: "read",
      params: () => z.object({ id: z.string(), runId: z.string() }),
      answer: { status: 200, schema: schema("subagents", "RunSubagentList"), description: "All, in their order" },
      problems: ["run_not_found"],
    },
    async ({ params, principal }) => {
      const agent = await findAgent(principal, params.id);
      return { items: await listSubagents(platform, { agent, runId: params.runId }) };
    },
  );
  api.route(
    {
      method: "get",
      path: `${path}/{subagentId}`,
      summary: "Read what a sub-agent did",
      tag,
      scope: "agents:read",
      sharing: "read",
      params: () => z.object({ id: z.string(), runId: z.string(), subagentId: z.string() }),
      answer: { status: 200, schema: schema("subagents", "RunSubagentDetails"), description: "It and its events" },
      problems: ["run_not_found", "not_found"],
    },
    async ({ params: { id, ...ids }, principal }) =>
      readSubagent(platform, { agent: await findAgent(principal, id), ...ids }),
  );
}
