// Frames as they are stored.
import { type Kysely, sql } from "kysely";
import type { Tables } from "../db/index.ts";
import type { DataKey, Vault } from "../vault/index.ts";
import type { Frame } from "./frame.ts";

export interface FramePages {
  /** Frames after this one, in order, at most a page of them. */
  read(runId: string, after: number): Promise<Frame[]>;
}

const pageSize = 1_000;

/** The key of an agent is unwrapped once while somebody reads. */
export function readFrames(db: Kysely<Tables>, vault: Vault): FramePages {
  return {
    async read(runId, after) {
      const rows = await db
        .selectFrom("frames")
        .select(["seq", "event_id", "event", "data"])
        .where("run_id", "=", runId)
        .where("seq", ">", after)
        .orderBy("seq")
        .limit(pageSize)
        .execute();
      if (rows.length === 0) return [];
      const { data_key } = await db
        .selectFrom("agents")
        .innerJoin("runs", "runs.agent_id", "agents.id")
        .select("agents.data_key")
        .where("runs.id", "=", runId)
        .executeTakeFirstOrThrow();
      const key = await vault.unwrap(data_key);
      return rows.map(({ seq, event_id, event, data }) => ({
        seq,
        eventId: event_id,
        event,
        data: key.openText(data, `frame:${runId}:${seq}`),
      }));
    },
  };
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
