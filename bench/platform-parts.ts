// Parts of the platform that its measurements use: frames are written as another server would write them.
import { type Kysely, sql } from "kysely";
import { clusterPaths, readPassword } from "../packages/platform/src/foundation/db/cluster-paths.ts";
import { openQueries } from "../packages/platform/src/foundation/db/connect.ts";
import type { Tables } from "../packages/platform/src/foundation/db/tables/index.ts";
import { openVault } from "../packages/platform/src/foundation/vault/index.ts";
import { insertFrames, notifyReaders, numberFrames } from "../packages/platform/src/runs/streams/index.ts";

/** The database of a server that runs with this data directory. */
export function openRunning(dataDirectory: string): Kysely<Tables> {
  const paths = clusterPaths(dataDirectory, { variables: process.env });
  const { socketDirectory } = paths;
  return openQueries({ socketDirectory, password: readPassword(paths), database: "platform" }, 4, () => {});
}

/** Writes frames of one run, and wakes its readers. */
export async function openFrameWriter(
  db: Kysely<Tables>,
  { kekFile, agentId, runId }: { kekFile: string; agentId: string; runId: string },
): Promise<(texts: string[]) => Promise<void>> {
  const vault = await openVault(db, kekFile);
  const row = await db.selectFrom("agents").select("data_key").where("id", "=", agentId).executeTakeFirstOrThrow();
  const key = await vault.unwrap(row.data_key);
  let after = 0;
  return async (texts) => {
    const groups = texts.map((text) => [{ event: "assistant" as const, data: { text } }]);
    const frames = numberFrames(groups, { after, bornAt: new Date(0) });
    after += frames.length;
    await sql`
      with fence as (select id from runs where id = ${runId}), shown as (${insertFrames(key, runId, frames)})
      select (${notifyReaders(runId, frames)}) as told
    `.execute(db);
  };
}

/** Frames that no client reads, spread over all runs but one. */
export async function addStoredFrames(
  db: Kysely<Tables>,
  { count, except }: { count: number; except: string },
): Promise<void> {
  await sql`
    insert into frames (run_id, seq, event_id, event, data, at)
    select id, 100000 + seq, '1-' || seq, 'assistant', decode(repeat(md5(seq::text), 6), 'hex'), now()
    from (select id, count(*) over () as runs from runs where id <> ${except}) others,
      generate_series(1, (${count} / runs)::integer) as seq
  `.execute(db);
  await sql`analyze frames`.execute(db);
}
