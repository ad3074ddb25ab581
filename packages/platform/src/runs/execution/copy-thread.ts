// The thread of a new agent that begins with records of another one, sealed with its own key.
import type { StoredRecord } from "@agentcli/engine";
import { forkRecords } from "@agentcli/host/session-files";
import { sql } from "kysely";
import type { DataKey, Queries } from "../../foundation/index.ts";
import { threadOf } from "./ids.ts";
import { recordAad } from "./session-store.ts";

export interface ThreadCopy {
  /** Whose thread it becomes. */
  agentId: string;
  key: DataKey;
  /** Of the other thread, from its first one. */
  records: StoredRecord[];
  /** The last one to copy. */
  lastTurnId: string;
}

const batchSize = 500;

/** Within the transaction that creates the agent. */
export async function copyThread(tx: Queries, { agentId, key, records, lastTurnId }: ThreadCopy): Promise<void> {
  const threadId = threadOf(agentId);
  const copied = forkRecords(records, { threadId, lastTurnId });
  await tx.insertInto("threads").values({ id: threadId, agent_id: agentId, parent_id: null }).execute();
  for (let first = 0; first < copied.length; first += batchSize) {
    const batch = copied.slice(first, first + batchSize);
    const seqs = batch.map(({ seq }) => seq);
    const ats = batch.map(({ at }) => at);
    const texts = batch.map(({ seq, record }) => key.seal(JSON.stringify(record), recordAad(threadId, seq)));
    await sql`
      insert into thread_records (thread_id, seq, at, record)
      select ${threadId}, seq, at, record
      from unnest(${seqs}::integer[], ${ats}::timestamptz[], ${texts}::bytea[]) as new (seq, at, record)
    `.execute(tx);
  }
}
