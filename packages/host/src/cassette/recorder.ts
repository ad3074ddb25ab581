// What a recording holds, whatever it is written to: every record of every thread, every exchange with a model.
import {
  type Model,
  type ModelRequest,
  type Scrub,
  type SessionStore,
  type StoredRecord,
  scrubJson,
} from "@agentcli/engine";
import { compress, writeLine } from "./cassette.ts";
import type { CassetteHeader, CassetteLine } from "./format.ts";

export interface Recording<Store extends SessionStore> {
  /** The same store; what it stores is recorded. */
  store(store: Store): Store;
  /** The same model; what it is asked and answers is recorded. */
  model(model: Model): Model;
}

export interface RecorderOptions<Store extends SessionStore> {
  header: CassetteHeader;
  /** Removes secrets before anything is written. */
  scrub: Scrub;
  /** Called with whole lines, the header first. */
  write(line: string): void;
  /** The records of a thread up to `last`, which were stored before the recording began. */
  readPast(threadId: string, last: number, store: Store): Promise<StoredRecord[]>;
}

export function recordRun<Store extends SessionStore>(options: RecorderOptions<Store>): Recording<Store> {
  const { header, scrub, readPast } = options;
  const write = (line: CassetteHeader | CassetteLine) => options.write(writeLine(scrubJson(line, scrub)));
  const known = new Set<string>();
  const last = new Map<string, ModelRequest>();
  write(header);
  return {
    store: (store) => ({
      ...store,
      async append(threadId, after, records) {
        if (!known.has(threadId) && after > 0)
          write({ type: "past", thread: threadId, records: await readPast(threadId, after, store) });
        known.add(threadId);
        const stored = await store.append(threadId, after, records);
        write({ type: "records", thread: threadId, records: stored });
        return stored;
      },
    }),
    model: (model) => ({
      async reply(request, onProgress, signal) {
        const reply = await model.reply(request, onProgress, signal);
        const thread = request.cacheKey;
        write({ type: "exchange", thread, request: compress(request, last.get(thread)), reply });
        last.set(thread, request);
        return reply;
      },
    }),
  };
}
