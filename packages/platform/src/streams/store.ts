// Frames as they are stored.

import type { Frame } from "@agentcli/engine";
import { type Kysely, type Selectable, sql } from "kysely";
import type { FrameTable, Tables } from "../db/index.ts";
import type { DataKey, Vault } from "../vault/index.ts";

export interface FramePages {
  /** Frames after this one, in order, at most a page of them; or why there will be none. */
  read(runId: string, after: number): Promise<Frame[] | NoMoreFrames>;
}

/** The run was deleted meanwhile, or has ended without a word. */
export type NoMoreFrames = "gone" | "silent";

const mostFrames = 1_000;
/** A page is held for as long as its slowest reader needs. */
const mostBytes = 1024 * 1024;

export function readFrames(db: Kysely<Tables>, vault: Vault): FramePages {
  return {
    async read(runId, after) {
      const agent = await db
        .selectFrom("agents")
        .innerJoin("runs", "runs.agent_id", "agents.id")
        .select(["agents.data_key", "runs.ended_at"])
        .where("runs.id", "=", runId)
        .executeTakeFirst();
      if (!agent) return "gone";
      const rows = await readPage(db, runId, after);
      // The last frames are stored with the end of the run; one that could not be opened has none.
      if (rows.length === 0) return agent.ended_at === null ? [] : "silent";
      const key = await vault.unwrap(agent.data_key);
      return rows.map(({ seq, event_id, event, data }) => ({
        seq,
        eventId: event_id,
        event,
        data: key.openText(data, `frame:${runId}:${seq}`),
      }));
    },
  };
}

type FrameRow = Pick<Selectable<FrameTable>, "seq" | "event_id" | "event" | "data">;

/** The first of them comes however large it is. */
async function readPage(db: Kysely<Tables>, runId: string, after: number): Promise<FrameRow[]> {
  const { rows } = await sql<FrameRow>`
    select seq, event_id, event, data from (
      select *, sum(octet_length(data)) over (order by seq) - octet_length(data) as before from (
        select seq, event_id, event, data from frames
        where run_id = ${runId} and seq > ${after} order by seq limit ${mostFrames}
      ) page
    ) measured where before < ${mostBytes} order by seq
  `.execute(db);
  return rows;
}

/** The last frame that carries this id; null where the run has none such. */
export async function findEvent(
  db: Kysely<Tables>,
  runId: string,
  eventId: string,
): Promise<Pick<Frame, "seq" | "event"> | null> {
  const last = await db
    .selectFrom("frames")
    .select(["seq", "event"])
    .where("run_id", "=", runId)
    .where("event_id", "=", eventId)
    .orderBy("seq", "desc")
    .limit(1)
    .executeTakeFirst();
  return last ?? null;
}

/** Part of a statement that has the fence: rows are added only where it holds. */
export function insertFrames(key: DataKey, runId: string, frames: Frame[]) {
  const sealed = frames.map(({ seq, data }) => key.seal(data, `frame:${runId}:${seq}`));
  return sql`
    insert into frames (run_id, seq, event_id, event, data, at)
    select fence.id, new.seq, new.event_id, new.event, new.data, now()
    from fence, unnest(
      ${frames.map(({ seq }) => seq)}::integer[],
      ${frames.map(({ eventId }) => eventId)}::text[],
      ${frames.map(({ event }) => event)}::text[],
      ${sealed}::bytea[]
    ) as new (seq, event_id, event, data)
  `;
}

/** Readers on other servers look for what is new. */
export const tellReaders = (runId: string, frames: Frame[]) =>
  sql`select pg_notify('frames', ${runId}) from fence where ${frames.length > 0}`;
