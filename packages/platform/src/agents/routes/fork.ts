// Forks of agents over HTTP: what one would start with, and its creation.
import { z } from "zod";
import { type Api, schema } from "../../foundation/index.ts";
import { type AgentHost, createdAnswer } from "./agents.ts";
import { promptLimitBytes, submitCall } from "./submission.ts";

const one = () => z.object({ id: z.string() });
const path = "/v1/agents/{id}/fork";
const tag = "Agents";

export function addForkRoutes(api: Api, host: AgentHost): void {
  const { submit } = host;
  api.route(
    {
      method: "get",
      path,
      summary: "Read what a fork of an agent would start with",
      tag,
      scope: "agents:read",
      sharing: "read",
      params: one,
      query: schema("agents", "ForkQuery"),
      answer: { status: 200, schema: schema("agents", "ForkPreview"), description: "Its conversation and files" },
      problems: ["run_not_found", "nothing_to_fork"],
    },
    ({ params, query, principal }) => submit.previewFork(principal, params.id, query.runId),
  );
  api.route(
    {
      method: "post",
      path,
      summary: "Create an agent that begins with the conversation of another, and start its first run",
      tag,
      scope: "agents:write",
      sharing: "read",
      params: one,
      body: schema("agents", "ForkAgent"),
      bodyLimitBytes: promptLimitBytes,
      answer: { status: 200, schema: schema("agents", "AgentCreated"), description: "The new agent and its run" },
      problems: [
        "run_not_found",
        "nothing_to_fork",
        "idempotency_conflict",
        "invalid_model",
        "repository_access",
        "spend_limit_reached",
      ],
    },
    async (call) => {
      const { params, body, principal } = call;
      const created = await submitCall(call, (submission) => submit.forkAgent(params.id, body, submission));
      return createdAnswer(host, principal, created);
    },
  );
}
