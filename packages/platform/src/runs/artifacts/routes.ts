// Artifacts over HTTP: a list, and links that need no API key.
import { type Artifact, agentIdPattern } from "@agentcli/protocol/api";
import { z } from "zod";
import {
  type Api,
  ApiError,
  fileResponse,
  type PlatformContext,
  readDataId,
  type ServerContext,
  schema,
} from "../../foundation/index.ts";
import type { FindReadableAgent, ReadableAgent } from "../agent-reader.ts";
import { findDiskHolder } from "../disks/index.ts";
import { artifactAad } from "./collect.ts";
import { makeLink, readLink } from "./links.ts";
import { artifactKey, readArtifact } from "./objects.ts";
import { listArtifacts, type Owner, type StoredArtifact } from "./store.ts";

const params = () => z.object({ id: z.string() });
const tag = "Artifacts";

export interface ArtifactHost {
  platform: ServerContext;
  findAgent: FindReadableAgent;
  publicUrl(): string;
}

export function addArtifactRoutes(api: Api, host: ArtifactHost): void {
  addList(api, host);
  addLinks(api, host);
  addDownload(api, host.platform);
}

function addList(api: Api, { platform, findAgent }: ArtifactHost): void {
  api.route(
    {
      method: "get",
      path: "/v1/agents/{id}/artifacts",
      summary: "List the artifacts of an agent",
      tag,
      scope: "agents:read",
      sharing: "read",
      params,
      answer: { status: 200, schema: schema("artifacts", "ArtifactList"), description: "All of them" },
    },
    async ({ params: { id }, principal }) => {
      const agent = await findAgent(principal, id);
      return { items: await shownArtifacts(platform, agent) };
    },
  );
}

function addLinks(api: Api, host: ArtifactHost): void {
  api.route(
    {
      method: "get",
      path: "/v1/agents/{id}/artifacts/download",
      summary: "Get a link to one file, valid for 15 minutes",
      tag,
      scope: "agents:read",
      sharing: "read",
      params,
      query: schema("artifacts", "ArtifactQuery"),
      answer: { status: 200, schema: schema("artifacts", "ArtifactLink"), description: "The link" },
      problems: ["artifact_not_found"],
    },
    async ({ params: { id }, query: { path }, principal }) => {
      return linkArtifact(host, await host.findAgent(principal, id), path);
    },
  );
}

export async function shownArtifacts({ db, vault }: PlatformContext, agent: ReadableAgent): Promise<Artifact[]> {
  const found = await listArtifacts(db, { agent, key: await vault.unwrap(agent.data_key) });
  return found.map(({ path, sizeBytes, updatedAt }) => ({ path, sizeBytes, updatedAt: updatedAt.toISOString() }));
}

/** Throws `artifact_not_found`. */
export async function linkArtifact(
  { platform, publicUrl }: { platform: PlatformContext; publicUrl(): string },
  agent: ReadableAgent,
  path: string,
): Promise<{ url: string; expiresAt: string }> {
  const key = await platform.vault.unwrap(agent.data_key);
  await findArtifact(platform, { agent, key }, path);
  const { token, expiresAt } = makeLink(key, agent.id, path);
  return { url: `${publicUrl()}/artifacts/${agent.id}/${token}`, expiresAt: expiresAt.toISOString() };
}

function addDownload(api: Api, platform: ServerContext): void {
  const { db, vault, forwarding, settings } = platform;
  api.app.get("/artifacts/:id/:token", async (context) => {
    const { id, token } = context.req.param();
    const gone = new ApiError("artifact_not_found", "This link has expired or is not valid; request a new one.");
    if (!agentIdPattern.test(id)) throw gone;
    const agent = await db
      .selectFrom("agents")
      .select(["data_key", "directory", "team_id"])
      .where("id", "=", id)
      .executeTakeFirst();
    if (!agent) throw gone;
    const key = await vault.unwrap(agent.data_key);
    const path = readLink(key, id, token);
    if (path === null) {
      api.admission.noteWrongSecret(context);
      throw gone;
    }
    const { blob, sizeBytes } = await findArtifact(platform, { agent: { id }, key }, path);
    api.admission.admitDownload(context, agent.team_id, sizeBytes);
    const sealed = await readArtifact(platform.objects, artifactKey(agent.directory, blob));
    // Without an object store it is where the files of the agent are.
    const isFinal = sealed !== null || forwarding.forwarded(context.env.incoming) !== null;
    const holder = isFinal ? null : await findDiskHolder(db, id, readDataId(settings.dataDirectory));
    if (holder !== null) return forwarding.call(context, Buffer.alloc(0), holder);
    if (sealed === null)
      throw new ApiError(
        "artifact_not_found",
        `The content of ${path} is neither on this server nor on one that runs now.`,
      );
    return fileResponse(key.open(sealed, artifactAad(id, blob)), path.split("/").at(-1) ?? "artifact");
  });
}

async function findArtifact({ db }: PlatformContext, owner: Owner, path: string): Promise<StoredArtifact> {
  const found = (await listArtifacts(db, owner)).find((artifact) => artifact.path === path);
  if (!found) throw new ApiError("artifact_not_found", `There is no artifact ${path}; see the list of artifacts.`);
  return found;
}
