// A session store in memory whose process is killed at a write.
import type { ThreadRecord } from "@agentcli/protocol";

/** What was stored for each thread: it survives the kill. */
export type StoredThreads = Map<string, { seq: number; at: string; record: ThreadRecord }[]>;

/** Write number `killAt` stores only its first record and never settles, like all later ones. */
export function openKilledStore(threads: StoredThreads = new Map(), killAt = Infinity) {
  let writes = 0;
  let kill = () => {};
  const killed = new Promise<"killed">((resolve) => {
    kill = () => resolve("killed");
  });
  const store = {
    async append(id: string, after: number, records: ThreadRecord[]) {
      writes += 1;
      const at = new Date(0).toISOString();
      const stored = records.map((record, index) => ({ seq: after + index + 1, at, record }));
      if (writes <= killAt)
        threads.set(id, [...(threads.get(id) ?? []), ...(writes === killAt ? stored.slice(0, 1) : stored)]);
      if (writes < killAt) return stored;
      kill();
      return new Promise<never>(() => {});
    },
    async *read(id: string, after = 0) {
      yield (threads.get(id) ?? []).slice(after);
    },
  };
  return { store, threads, killed, writes: () => writes };
}
