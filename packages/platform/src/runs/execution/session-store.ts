// Threads of one agent in the database, sealed; written only by the driver of the run, together with their frames.
import { type SessionStore, StaleWriter, type StoredRecord } from "@agentcli/engine";
import type { ThreadRecord } from "@agentcli/protocol";
import { type Kysely, sql } from "kysely";
import { type DataKey, isUniqueViolation, prepared, retryWhileAway, type Tables } from "../../foundation/index.ts";
import type { Fence } from "../leases/lease.ts";
import { deliveredIn } from "../messages/index.ts";
import { type Frame, type FrameWriter, insertFrames, notifyReaders } from "../streams/index.ts";
import { type Charges, chargesOf } from "../usage/index.ts";
import { threadOf } from "./ids.ts";

export interface StoreOptions {
  db: Kysely<Tables>;
  key: DataKey;
  agentId: string;
  fence: Fence;
  frameWriter: FrameWriter;
  /** After what was charged has been stored. */
  onCharged?(charges: Charges): void;
}

const pageSize = 500;

export function openSessionStore(options: StoreOptions): SessionStore {
  const { db, key } = options;
  let hasProgress = false;
  return {
    async append(threadId, after, records) {
      const at = new Date().toISOString();
      const stored = records.map((record, index) => ({ seq: after + index + 1, at, record }));
      // Every driver writes notes again, so they are not progress.
      const isProgress = records.some(({ type }) => type !== "noted");
      const news = isProgress && !hasProgress ? "first progress" : "more";
      await options.frameWriter.record(threadId, stored, (frames) =>
        insert(options, { threadId, stored, news, frames }),
      );
      hasProgress ||= isProgress;
      const charges = chargesOf(stored);
      if (charges) options.onCharged?.(charges);
      return stored;
    },
    async *read(threadId, after) {
      // A fork names the sub-agents of its original, which are sealed with another key.
      if (threadId !== threadOf(options.agentId) && !(await belongsTo(options, threadId))) return;
      for await (const stored of readThreadRecords(db, key, threadId, after)) {
        // For the main thread, readHistory recalls only the records of this run.
        if (threadId !== threadOf(options.agentId)) for (const one of stored) options.frameWriter.recall(threadId, one);
        yield stored;
      }
    },
  };
}

async function belongsTo({ db, agentId }: StoreOptions, threadId: string): Promise<boolean> {
  const thread = await db.selectFrom("threads").select("agent_id").where("id", "=", threadId).executeTakeFirst();
  return thread?.agent_id === agentId;
}

/** In order, one page at a time. */
export async function* readThreadRecords(
  db: Kysely<Tables>,
  key: DataKey,
  threadId: string,
  after = 0,
): AsyncGenerator<StoredRecord[]> {
  let last = after;
  for (;;) {
    const rows = await db
      .selectFrom("thread_records")
      .select(["seq", "at", "record"])
      .where("thread_id", "=", threadId)
      .where("seq", ">", last)
      .orderBy("seq")
      .limit(pageSize)
      .modifyEnd(prepared)
      .execute();
    if (rows.length === 0) return;
    yield rows.map(({ seq, at, record }) => ({
      seq,
      at: at.toISOString(),
      record: JSON.parse(key.openText(record, recordAad(threadId, seq))) as ThreadRecord,
    }));
    last += rows.length;
    if (rows.length < pageSize) return;
  }
}

interface Insertion {
  threadId: string;
  stored: StoredRecord[];
  /** Whether this is the first progress of this driver. */
  news: "first progress" | "more";
  frames: Frame[];
}

async function insert(
  { db, key, fence, agentId }: StoreOptions,
  { threadId, stored, news, frames }: Insertion,
): Promise<void> {
  const parentId = parentOf(stored);
  const seqs = stored.map(({ seq }) => seq);
  const ats = stored.map(({ at }) => at);
  const texts = stored.map(({ seq, record }) => key.seal(JSON.stringify(record), recordAad(threadId, seq)));
  const held = await writeOnce(threadId, () =>
    sql<{ held: boolean }>`${prepared}
      with fence as (
        select id from runs
        where id = ${fence.runId} and lease_epoch = ${fence.epoch} and status in ('CREATING', 'RUNNING')
        for no key update
      ), thread as (
        insert into threads (id, agent_id, parent_id)
        select ${threadId}, ${agentId}, ${parentId}::text from fence where ${seqs[0] === 1}
        on conflict do nothing
      ), records as (
        insert into thread_records (thread_id, seq, at, record)
        select ${threadId}, seq, at, record
        from fence, unnest(${seqs}::integer[], ${ats}::timestamptz[], ${texts}::bytea[]) as new (seq, at, record)
      ), charged as (${changeRun(stored, news)}),
      delivered as (${deliveredIn(stored) ?? sql`select`}),
      shown as (${insertFrames(key, fence.runId, frames)})
      select exists (select from fence) as held, (${notifyReaders(fence.runId, frames)}) as told
    `.execute(db),
  );
  if (!held) throw new StaleWriter(threadId, `run ${fence.runId} has another driver`);
}

/** In the same statement as the records, so that each is charged exactly once. */
function changeRun(stored: StoredRecord[], news: Insertion["news"]) {
  const charges = chargesOf(stored);
  const changes = [
    ...(charges ? [chargeWith(charges)] : []),
    ...(news === "first progress" ? [sql`claims_without_progress = 0`] : []),
  ];
  return changes.length === 0
    ? sql`select`
    : sql`update runs set ${sql.join(changes)} from fence where runs.id = fence.id`;
}

const chargeWith = ({ usage, costUsd }: Charges) => sql`
  input_tokens = input_tokens + ${usage.inputTokens}, output_tokens = output_tokens + ${usage.outputTokens},
  cache_read_tokens = cache_read_tokens + ${usage.cachedInputTokens},
  cache_write_tokens = cache_write_tokens + ${usage.cacheWriteInputTokens},
  reasoning_tokens = reasoning_tokens + ${usage.reasoningOutputTokens}, cost_usd = cost_usd + ${costUsd}::numeric
`;

/** Whether the fence held. Only the driver can write at this position: existing records are from its own earlier attempt. */
function writeOnce(threadId: string, write: () => Promise<{ rows: { held: boolean }[] }>): Promise<boolean> {
  return retryWhileAway(async (before) => {
    try {
      return (await write()).rows[0]?.held === true;
    } catch (error) {
      if (!isUniqueViolation(error)) throw error;
      if (before === "unheard") return true;
      throw new StaleWriter(threadId, "its next record is there already");
    }
  });
}

const parentOf = (stored: StoredRecord[]): string | null => {
  const first = stored[0]?.record;
  return first?.type === "thread.created" ? (first.parentId ?? null) : null;
};

export const recordAad = (threadId: string, seq: number): string => `record:${threadId}:${seq}`;
