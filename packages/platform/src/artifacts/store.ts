// Artifacts in the database. Their names are sealed too: agents call files after what they were told.
import { sql } from "kysely";
import type { Queries } from "../db/index.ts";
import type { DataKey } from "../vault/index.ts";

/** Of which agent, and under which key. */
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

/** In the order of their paths. Where a crash left two of one path, the newer one. */
export async function listArtifacts(db: Queries, { agent, key }: Owner): Promise<StoredArtifact[]> {
  const rows = await db
    .selectFrom("artifacts")
    .selectAll()
    .where("agent_id", "=", agent.id)
    .orderBy("updated_at")
    .execute();
  const byPath = new Map<string, StoredArtifact>();
  for (const { path: sealed, size_bytes, blob, updated_at } of rows) {
    const path = key.openText(sealed, namePlace(agent.id, blob));
    byPath.set(path, { path, sizeBytes: size_bytes, blob, updatedAt: updated_at });
  }
  return [...byPath.values()].sort((left, right) => (left.path < right.path ? -1 : 1));
}

/** In place of the one that had its path. Nothing is stored for an agent that was deleted meanwhile. */
export async function storeArtifact(
  db: Queries,
  { agent, key }: Owner,
  { path, sizeBytes, blob, former }: Omit<StoredArtifact, "updatedAt"> & { former: string | null },
): Promise<void> {
  const sealed = key.seal(path, namePlace(agent.id, blob));
  await sql`
    with gone as (delete from artifacts where agent_id = ${agent.id} and blob = ${former})
    insert into artifacts (agent_id, blob, path, size_bytes, updated_at)
    select id, ${blob}, ${sealed}, ${sizeBytes}, ${new Date()} from agents where id = ${agent.id} for key share
  `.execute(db);
}

const namePlace = (agentId: string, blob: string): string => `artifact-name:${agentId}:${blob}`;
