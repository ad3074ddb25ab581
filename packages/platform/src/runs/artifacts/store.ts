// Artifacts in the database. Their names are sealed too: agents may name files after the content of a prompt.
import { sql } from "kysely";
import type { DataKey, Queries } from "../../foundation/index.ts";

/** The agent and its data key. */
export interface Owner {
  agent: { id: string };
  key: DataKey;
}

export interface StoredArtifact {
  path: string;
  sizeBytes: number;
  /** Name of its sealed file. */
  blob: string;
  updatedAt: Date;
}

/** Ordered by path. If a crash left two rows with one path, the newer one. */
export async function listArtifacts(db: Queries, { agent, key }: Owner): Promise<StoredArtifact[]> {
  const rows = await db
    .selectFrom("artifacts")
    .selectAll()
    .where("agent_id", "=", agent.id)
    .orderBy("updated_at")
    .execute();
  const byPath = new Map<string, StoredArtifact>();
  for (const { path: sealed, size_bytes, blob, updated_at } of rows) {
    const path = key.openText(sealed, artifactNameAad(agent.id, blob));
    byPath.set(path, { path, sizeBytes: size_bytes, blob, updatedAt: updated_at });
  }
  return [...byPath.values()].sort((left, right) => (left.path < right.path ? -1 : 1));
}

/** Replaces the artifact with the same path. Stores nothing if the agent was deleted meanwhile. */
export async function storeArtifact(
  db: Queries,
  { agent, key }: Owner,
  { path, sizeBytes, blob, former }: Omit<StoredArtifact, "updatedAt"> & { former: string | null },
): Promise<void> {
  const sealed = key.seal(path, artifactNameAad(agent.id, blob));
  await sql`
    with gone as (delete from artifacts where agent_id = ${agent.id} and blob = ${former})
    insert into artifacts (agent_id, blob, path, size_bytes, updated_at)
    select id, ${blob}, ${sealed}, ${sizeBytes}, ${new Date()} from agents where id = ${agent.id} for key share
  `.execute(db);
}

const artifactNameAad = (agentId: string, blob: string): string => `artifact-name:${agentId}:${blob}`;
