// `GET /v1/agents/{id}/diff`
import { isUtf8 } from "node:buffer";
import type { Scrub } from "@agentcli/engine";
import type { RepositoryDiff } from "@agentcli/protocol/api";
import { z } from "zod";
import { type Api, ApiError, type Forwarding, fileResponse, schema } from "../../foundation/index.ts";
import { capPatch, type Diffs, type RepositoryChange, RepositoryFault } from "../../repositories/index.ts";
import { scrubOfAgent } from "../../runs/index.ts";
import type { AgentHost } from "./agents.ts";

export interface DiffHost extends Pick<AgentHost, "platform" | "access" | "publicUrl"> {
  diffs: Diffs;
  forwarding: Forwarding;
  /** Null: this server. */
  findHolder(agentId: string): Promise<string | null>;
}

/** Answered by the server that has the files. */
export function addDiffRoute(api: Api, { platform, access, publicUrl, diffs, forwarding, findHolder }: DiffHost): void {
  api.route(
    {
      method: "get",
      path: "/v1/agents/{id}/diff",
      summary: "Read what an agent, or its last run alone, has changed so far, also before it is pushed",
      tag: "Agents",
      scope: "agents:read",
      sharing: "read",
      params: () => z.object({ id: z.string() }),
      query: () =>
        z.object({
          of: z.enum(["agent", "run"]).default("agent").describe("run: what its last run alone has changed"),
          repository: z
            .string()
            .max(4096)
            .optional()
            .describe("repoUrl of one of them: the whole patch as a file, instead of JSON"),
        }),
      problems: ["payload_too_large", "repository_not_found"],
      answer: {
        status: 200,
        schema: schema("diff", "AgentDiff"),
        contentType: "application/octet-stream",
        description: "A patch for each of its repositories, at most 1 MiB of each, or with ?repository= a whole one",
      },
    },
    async ({ params, query, principal, context, rawBody }) => {
      const { id, data_key } = await access.find(principal, params.id, "read");
      const isFinal = forwarding.forwarded(context.env.incoming) !== null;
      const holder = isFinal ? null : await findHolder(id);
      if (holder !== null) return forwarding.call(context, rawBody, holder);
      api.admission.admitGitProcess(context, principal.teamId);
      const read = query.of === "run" ? diffs.readLastRun : diffs.read;
      const found = await read(id, AbortSignal.timeout(limitMs)).catch(async (error: unknown) => {
        // Deleted meanwhile, with its files: then that is the answer.
        await access.find(principal, id, "read");
        // Files that no patch can be made of, more than it can hold as a rule.
        if (error instanceof RepositoryFault) throw new ApiError("payload_too_large", error.message);
        throw error;
      });
      const scrub = await scrubOfAgent(platform.db, { id }, await platform.vault.unwrap(data_key));
      const changes = found.map((change) => ({ ...change, patch: scrubPatch(change.patch, scrub) }));
      if (query.repository !== undefined) {
        const { patch, name } = wholePatch(changes, query.repository);
        api.admission.admitDownload(context, principal.teamId, patch.length);
        return fileResponse(patch, name);
      }
      return {
        items: changes.map((change) => entryOf(change, { url: `${publicUrl()}/v1/agents/${id}/diff`, of: query.of })),
      };
    },
  );
}

const limitMs = 60_000;

/** Commands may have written a secret into a file, and readers of the agent are not its owner. */
function scrubPatch(patch: Buffer, scrub: Scrub): Buffer {
  const encoding = isUtf8(patch) ? "utf8" : "latin1";
  return Buffer.from(scrub(patch.toString(encoding)), encoding);
}

/** Throws `repository_not_found`. */
function wholePatch(changes: RepositoryChange[], repoUrl: string): { patch: Buffer; name: string } {
  const change = changes.find((one) => one.repoUrl === repoUrl);
  if (change) return { patch: change.patch, name: `${repoUrl.split("/").at(-1)}.patch` };
  const names = changes.map((one) => one.repoUrl).join(", ") || "none";
  throw new ApiError(
    "repository_not_found",
    `${repoUrl.slice(0, 200)} is not a repository of this agent, or is not fetched yet. Its repositories: ${names}.`,
  );
}

function entryOf(
  { patch, ...change }: RepositoryChange,
  { url, of }: { url: string; of: "agent" | "run" },
): RepositoryDiff {
  const beginning = capPatch(patch);
  return {
    ...change,
    ...written(beginning),
    truncated: beginning.length < patch.length,
    patchBytes: patch.length,
    patchUrl: `${url}?${new URLSearchParams({ ...(of === "run" && { of }), repository: change.repoUrl })}`,
  };
}

/** JSON is text, and a patch has the bytes of the files. */
const written = (patch: Buffer): { encoding: "utf-8" | "base64"; patch: string } =>
  isUtf8(patch)
    ? { encoding: "utf-8", patch: patch.toString("utf8") }
    : { encoding: "base64", patch: patch.toString("base64") };
