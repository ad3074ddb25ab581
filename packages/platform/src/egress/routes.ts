// What a run has reached and was refused, over HTTP.
import { z } from "zod";
import { type Api, ApiError, type PlatformContext, type Principal, schema } from "../foundation/index.ts";
import { readEgress } from "./record.ts";

export interface EgressHost {
  platform: PlatformContext;
  findAgent(principal: Principal, id: string): Promise<{ id: string; data_key: Buffer }>;
}

export function addEgressRoute(api: Api, { platform: { db, vault }, findAgent }: EgressHost): void {
  api.route(
    {
      method: "get",
      path: "/v1/agents/{id}/runs/{runId}/egress",
      summary: "List the hosts that a run has reached, with bytes, and those that it was refused, with the rule",
      tag: "Runs",
      scope: "agents:read",
      sharing: "read",
      params: () => z.object({ id: z.string(), runId: z.string() }),
      answer: {
        status: 200,
        schema: schema("egress", "RunEgress"),
        description: "The policy, and every host once for each process and phase",
      },
      problems: ["run_not_found"],
    },
    async ({ params, principal }) => {
      const agent = await findAgent(principal, params.id);
      const row = await db
        .selectFrom("runs")
        .select(["id", "egress"])
        .where("agent_id", "=", agent.id)
        .where("id", "=", params.runId)
        .executeTakeFirst();
      if (!row) throw new ApiError("run_not_found", `The agent has no run ${params.runId}.`);
      return readEgress(row, await vault.unwrap(agent.data_key));
    },
  );
}
