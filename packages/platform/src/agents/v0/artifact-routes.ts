// Artifacts through v0: named as if they lay in a machine of the agent's own.
import { z } from "zod";
import { type Api, invalid, schema } from "../../foundation/index.ts";
import type { Principal } from "../../identity/index.ts";
import { linkArtifact, shownArtifacts } from "../../runs/index.ts";
import type { AgentHost } from "../routes/agents.ts";
import type { ListedAgent } from "../views/views.ts";

const params = () => z.object({ id: z.string() });
const rateLimit = [
  { requests: 300, seconds: 60 },
  { requests: 6_000, seconds: 3_600 },
];
const shared = { method: "get", tag: "v0", scope: "agents:read", sharing: "read", params, rateLimit } as const;

export function addArtifactRoutes(api: Api, host: AgentHost): void {
  const { platform } = host;
  const find = async (principal: Principal, id: string) => youngEnough(await host.access.find(principal, id, "read"));
  api.route(
    {
      ...shared,
      path: "/v0/agents/{id}/artifacts",
      summary: "List the artifacts of an agent",
      answer: { status: 200, schema: schema("v0", "V0ArtifactList"), description: "All of them" },
    },
    async ({ params: { id }, principal }) => {
      const artifacts = await shownArtifacts(platform, await find(principal, id));
      return {
        artifacts: artifacts.map(({ path, ...facts }) => ({ absolutePath: `/opt/platform/${path}`, ...facts })),
      };
    },
  );
  api.route(
    {
      ...shared,
      path: "/v0/agents/{id}/artifacts/download",
      summary: "Get a link to one file, valid for 15 minutes",
      query: schema("v0", "V0ArtifactQuery"),
      answer: { status: 200, schema: schema("artifacts", "ArtifactLink"), description: "The link" },
      problems: ["artifact_not_found"],
    },
    async ({ params: { id }, query: { path }, principal }) =>
      linkArtifact(host, await find(principal, id), path.replace(/^\/opt\/\w+\//, "")),
  );
}

const maxLifetimeMs = 183 * 24 * 3_600_000;

function youngEnough(agent: ListedAgent): ListedAgent {
  if (Date.now() - agent.created_at.getTime() <= maxLifetimeMs) return agent;
  throw invalid([`agent ${agent.id}: is older than six months; v1 still has its artifacts`]);
}
