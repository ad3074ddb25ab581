// Stores and reads frames.
import type { Frame } from "@agentcli/surfaces/run-stream";
import { type Kysely, sql } from "kysely";
import { type DataKey, prepared, type Tables, type Vault } from "../../foundation/index.ts";

export interface FramePages {
  /** The next page of frames after this one, in order; or the reason why there are no more. */
  read(runId: string, after: number, selection: FrameSelection): Promise<Frame[] | NoMoreFrames>;
}

/** `brief`: without those that only repeat the frame before them in more detail. */
export type FrameSelection = "all" | "brief";

/** The run was deleted meanwhile, or ended without a last frame. */
export type NoMoreFrames = "gone" | "silent";

const maxFrames = 1_000;
/** A page stays in memory until its slowest reader has it. */
const maxBytes = 1024 * 1024;

export function readFrames(db: Kysely<Tables>, vault: Vault): FramePages {
  return {
    async read(runId, after, selection) {
      const page = await readPage(db, { runId, after, selection });
      if (!page) return "gone";
      // The last frames are stored with the end of the run; a run that could not be opened has none.
      if (!page.frames) return page.ended_at === null ? [] : "silent";
      const key = await vault.unwrap(page.data_key);
      return framesOf(page, (sealed, seq) => key.openText(sealed, `frame:${runId}:${seq}`));
    },
  };
}

type PageRow = { ended_at: Date | null } & ({ frames: null } | FramesOfPage);

interface FramesOfPage {
  data_key: Buffer;
  frames: [seq: number, eventId: string, event: string, bytes: number][];
  /** One after the other. */
  data: Buffer;
}

interface PageRequest {
  runId: string;
  after: number;
  selection: FrameSelection;
}

/** By their ids, without opening them: see `isDetail`. */
const withoutDetails = sql`and (event <> 'interaction_update' or event_id like '%-' || seq)`;

/**
 * Always includes the first frame, whatever its size; no row without a run. One row for the whole page: rows of their own
 * take longer to read than their frames to open.
 */
async function readPage(db: Kysely<Tables>, { runId, after, selection }: PageRequest): Promise<PageRow | undefined> {
  const { rows } = await sql<PageRow>`${prepared}
    select runs.ended_at, case when frames is not null then agents.data_key end as data_key, frames, data
    from runs join agents on agents.id = runs.agent_id
    left join (
      select json_agg(json_build_array(seq, event_id, event, octet_length(data)) order by seq) as frames,
        string_agg(data, ''::bytea order by seq) as data
      from (
        select *, sum(octet_length(data)) over (order by seq) - octet_length(data) as before from (
          select seq, event_id, event, data from frames
          where run_id = ${runId} and seq > ${after} ${selection === "brief" ? withoutDetails : sql``}
          order by seq limit ${maxFrames}
        ) page
      ) measured where before < ${maxBytes}
    ) joined on true
    where runs.id = ${runId}
  `.execute(db);
  return rows[0];
}

function framesOf({ frames, data }: FramesOfPage, open: (sealed: Buffer, seq: number) => string): Frame[] {
  let end = 0;
  return frames.map(([seq, eventId, event, bytes]) => {
    end += bytes;
    return { seq, eventId, event, data: open(data.subarray(end - bytes, end), seq) };
  });
}

/** What these calls have printed according to the stored frames of their run. Reads page after page. */
export async function readPrinted(
  db: Kysely<Tables>,
  { key, runId }: { key: DataKey; runId: string },
  callIds: string[],
): Promise<Map<string, string>> {
  const printed = new Map(callIds.map((callId) => [callId, ""]));
  for (let after = 0; ; ) {
    const page = await readPage(db, { runId, after, selection: "brief" });
    if (!page?.frames) return printed;
    const open = (sealed: Buffer, seq: number) => key.openText(sealed, `frame:${runId}:${seq}`);
    for (const { seq, event, data: text } of framesOf(page, open)) {
      after = seq;
      if (event !== "interaction_update" || !text.includes("shell-output-delta")) continue;
      const { type, event: output } = JSON.parse(text) as OutputUpdate;
      const before = type === "shell-output-delta" ? printed.get(output.callId) : undefined;
      if (before !== undefined) printed.set(output.callId, before + output.value.data);
    }
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
