// What every store of sessions promises the engine. A test of each implementation calls `sessionStoreContract`.
import type { ThreadRecord } from "@agentcli/protocol";
import { describe, expect, test } from "vitest";

/** The engine's `SessionStore`, which this package must not import. */
interface Store {
  append(threadId: string, after: number, records: ThreadRecord[]): Promise<Stored[]>;
  read(threadId: string, after?: number): AsyncIterable<Stored[]>;
}

interface Stored {
  seq: number;
  at: string;
  record: ThreadRecord;
}

export interface StoreHarness {
  /** Writes a thread that does not exist yet. */
  store: Store;
  threadId: string;
  /** Another thread that does not exist yet. */
  otherThreadId: string;
  /** Reads what `store` has written, as another process would. */
  openReader(): Promise<Store> | Store;
  /** A writer that may not write while `store` does: an earlier holder of the thread, or another process. */
  openRival(): Promise<Store> | Store;
}

/** Harnesses clean up when their test has finished. */
export function sessionStoreContract(name: string, openHarness: OpenHarness): void {
  describe(`${name} as a session store`, () => {
    testContent(openHarness);
    testThreads(openHarness);
    testProcesses(openHarness);
  });
}

type OpenHarness = () => Promise<StoreHarness>;

function testContent(openHarness: OpenHarness): void {
  test("records come back in order, numbered from 1, with the time they were stored", async () => {
    const { store, threadId } = await openHarness();
    const records = [created(threadId), note("one"), note("two")];
    const stored = await store.append(threadId, 0, records);
    expect(stored.map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(stored.map(({ record }) => record)).toEqual(records);
    for (const { at } of stored) expect(new Date(at).toISOString()).toBe(at);
    expect(await readAll(store, threadId)).toEqual(stored);
  });

  test("records appended later follow existing ones", async () => {
    const { store, threadId } = await openHarness();
    const first = await store.append(threadId, 0, [created(threadId), note("one")]);
    const second = await store.append(threadId, 2, [note("two")]);
    const third = await store.append(threadId, 3, [note("three"), note("four")]);
    expect(third.map(({ seq }) => seq)).toEqual([4, 5]);
    expect(await readAll(store, threadId)).toEqual([...first, ...second, ...third]);
  });

  test("a thousand records come back in order, whatever the batches", async () => {
    const { store, threadId } = await openHarness();
    const notes = Array.from({ length: 1_100 }, (_, index) => note(`number ${index}`));
    await store.append(threadId, 0, [created(threadId)]);
    await store.append(threadId, 1, notes);
    const stored = await readAll(store, threadId, 1);
    expect(stored.map(({ record }) => record)).toEqual(notes);
    expect(stored.map(({ seq }) => seq)).toEqual(notes.map((_, index) => index + 2));
  });

  test("a large record and one with unusual characters come back unchanged", async () => {
    const { store, threadId } = await openHarness();
    const records = [created(threadId), note("x".repeat(3_000_000)), note('\u0000\n\r\t\u2028"\\ 𝄞 é')];
    await store.append(threadId, 0, records);
    expect((await readAll(store, threadId)).map(({ record }) => record)).toEqual(records);
  });
}

function testThreads(openHarness: OpenHarness): void {
  test("reading after a number gives only what follows it", async () => {
    const { store, threadId } = await openHarness();
    const stored = await store.append(threadId, 0, [created(threadId), note("one"), note("two")]);
    expect(await readAll(store, threadId, 1)).toEqual(stored.slice(1));
    expect(await readAll(store, threadId, 3)).toEqual([]);
  });

  test("a thread without records is empty", async () => {
    const { store, threadId } = await openHarness();
    expect(await readAll(store, threadId)).toEqual([]);
  });

  test("threads do not mix", async () => {
    const { store, threadId, otherThreadId } = await openHarness();
    const one = await store.append(threadId, 0, [created(threadId)]);
    const other = await store.append(otherThreadId, 0, [created(otherThreadId), note("other")]);
    expect(await readAll(store, threadId)).toEqual(one);
    expect(await readAll(store, otherThreadId)).toEqual(other);
  });
}

function testProcesses(openHarness: OpenHarness): void {
  test("what append has settled for is there for another process, the writer still open", async () => {
    const { store, threadId, openReader } = await openHarness();
    const reader = await openReader();
    const first = await store.append(threadId, 0, [created(threadId), note("one")]);
    expect(await readAll(reader, threadId)).toEqual(first);
    const second = await store.append(threadId, 2, [note("two")]);
    expect(await readAll(reader, threadId)).toEqual([...first, ...second]);
  });

  test("a second writer is refused as stale and writes nothing; the first continues", async () => {
    const { store, threadId, openRival } = await openHarness();
    const first = await store.append(threadId, 0, [created(threadId)]);
    const rival = await openRival();
    await expect(rival.append(threadId, 1, [note("rival")])).rejects.toMatchObject({ name: "StaleWriter" });
    const second = await store.append(threadId, 1, [note("first writer")]);
    expect(await readAll(store, threadId)).toEqual([...first, ...second]);
  });
}

async function readAll(store: Store, threadId: string, after?: number): Promise<Stored[]> {
  const records: Stored[] = [];
  // A store may keep more beside a record, such as the version of its format.
  for await (const batch of store.read(threadId, after))
    records.push(...batch.map(({ seq, at, record }) => ({ seq, at, record })));
  return records;
}

const note = (message: string): ThreadRecord => ({ type: "noted", kind: "warning", data: { message } });

const created = (threadId: string): ThreadRecord => ({
  type: "thread.created",
  threadId,
  frozen: { instructions: "Be brief.", tools: [], context: [] },
  settings: {
    model: "scripted",
    provider: "test",
    cwd: "/work",
    shell: "/bin/sh",
    sandbox: "read-only",
    approval: "never",
  },
  program: { name: "contract", version: "1.0.0" },
});
