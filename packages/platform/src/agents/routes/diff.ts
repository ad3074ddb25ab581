// `GET /v1/agents/{id}/diff`
import { isUtf8 } from "node:buffer";
import { AgentDiff } from "@agentcli/protocol/api";
import { z } from "zod";
import { type Api, ApiError } from "../../foundation/index.ts";
import { type Diffs, RepositoryFault } from "../../repositories/index.ts";
import type { AgentHost } from "./agents.ts";

export function addDiffRoute(api: Api, { access }: Pick<AgentHost, "access">, diffs: Diffs): void {
  api.route(
    {
      method: "get",
      path: "/v1/agents/{id}/diff",
      summary: "Read what an agent has changed so far, also before it is pushed",
      tag: "Agents",
      scope: "agents:read",
      sharing: "read",
      params: z.object({ id: z.string() }),
      problems: ["payload_too_large"],
      answer: { status: 200, schema: AgentDiff, description: "A patch for each of its repositories" },
    },
    async ({ params, principal, context }) => {
      api.admission.admitGitProcess(context, principal.teamId);
      const { id } = await access.find(principal, params.id, "read");
      const changes = await diffs.read(id, AbortSignal.timeout(limitMs)).catch(async (error: unknown) => {
        // Deleted meanwhile, with its files: then that is the answer.
        await access.find(principal, id, "read");
        // Files that no patch can be made of, more than it can hold as a rule.
        if (error instanceof RepositoryFault) throw new ApiError("payload_too_large", error.message);
        throw error;
      });
      return { items: changes.map(({ patch, ...change }) => ({ ...change, ...written(patch) })) };
    },
  );
}

const limitMs = 60_000;

/** JSON is text, and a patch has the bytes of the files. */
const written = (patch: Buffer): { encoding: "utf-8" | "base64"; patch: string } =>
  isUtf8(patch)
    ? { encoding: "utf-8", patch: patch.toString("utf8") }
    : { encoding: "base64", patch: patch.toString("base64") };
