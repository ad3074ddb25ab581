// Stores and reads frames.
import type { Frame } from "@agentcli/surfaces/run-stream";
import { type Kysely, type Selectable, sql } from "kysely";
import { type DataKey, type FrameTable, prepared, type Tables, type Vault } from "../../foundation/index.ts";

export interface FramePages {
  /** The next page of frames after this one, in order; or the reason why there are no more. */
  read(runId: string, after: number): Promise<Frame[] | NoMoreFrames>;
}

/** The run was deleted meanwhile, or ended without a last frame. */
export type NoMoreFrames = "gone" | "silent";

const maxFrames = 1_000;
/** A page stays in memory until its slowest reader has it. */
const maxBytes = 1024 * 1024;

export function readFrames(db: Kysely<Tables>, vault: Vault): FramePages {
  return {
    async read(runId, after) {
      const rows = await readPage(db, runId, after);
      const [first] = rows;
      if (!first) return "gone";
      // The last frames are stored with the end of the run; a run that could not be opened has none.
      if (!isFrame(first)) return first.ended_at === null ? [] : "silent";
      const key = await vault.unwrap(first.data_key);
      return rows.filter(isFrame).map(({ seq, event_id, event, data }) => ({
        seq,
        eventId: event_id,
        event,
        data: key.openText(data, `frame:${runId}:${seq}`),
      }));
    },
  };
}

type FrameRow = Pick<Selectable<FrameTable>, "seq" | "event_id" | "event" | "data">;

interface PageRow {
  ended_at: Date | null;
  /** With the first frame only. */
  data_key: Buffer;
}

const isFrame = (row: PageRow | (PageRow & FrameRow)): row is PageRow & FrameRow => "seq" in row && row.seq !== null;

/** Always includes the first frame, whatever its size. One row without a frame where there is none; no row without a run. */
async function readPage(db: Kysely<Tables>, runId: string, after: number): Promise<(PageRow | (PageRow & FrameRow))[]> {
  const { rows } = await sql<PageRow & FrameRow>`${prepared}
    select runs.ended_at, case when coalesce(before, 0) = 0 then agents.data_key end as data_key,
      seq, event_id, event, data
    from runs join agents on agents.id = runs.agent_id
    left join (
      select *, sum(octet_length(data)) over (order by seq) - octet_length(data) as before from (
        select seq, event_id, event, data from frames
        where run_id = ${runId} and seq > ${after} order by seq limit ${maxFrames}
      ) page
    ) measured on before < ${maxBytes}
    where runs.id = ${runId} order by seq
  `.execute(db);
  return rows;
}

/** What these calls have printed according to the stored frames of their run. Reads page after page. */
export async function readPrinted(
  db: Kysely<Tables>,
  { key, runId }: { key: DataKey; runId: string },
  callIds: string[],
): Promise<Map<string, string>> {
  const printed = new Map(callIds.map((callId) => [callId, ""]));
  for (let after = 0; ; ) {
    const frames = (await readPage(db, runId, after)).filter(isFrame);
    for (const { seq, event, data } of frames) {
      after = seq;
      if (event !== "interaction_update") continue;
      const text = key.openText(data, `frame:${runId}:${seq}`);
      if (!text.includes("shell-output-delta")) continue;
      const { type, event: output } = JSON.parse(text) as OutputUpdate;
      const before = type === "shell-output-delta" ? printed.get(output.callId) : undefined;
      if (before !== undefined) printed.set(output.callId, before + output.value.data);
    }
    if (frames.length === 0) return printed;
  }
}

interface OutputUpdate {
  type: string;
  event: { callId: string; value: { data: string } };
}

/** The last frame with this id; null if there is none. */
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

/** Part of a statement with the fence: inserts rows only if the fence holds. */
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
