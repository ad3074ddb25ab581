// Writes a run to a cassette while it happens: every record of every thread, every exchange with a model.
import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { type Model, type ModelRequest, type Scrub, scrubJson } from "@agentcli/engine";
import { HostError } from "../host-error.ts";
import type { FileStore } from "../sessions/index.ts";
import { type CassetteHeader, type CassetteLine, compress, readCassette, writeLine } from "./cassette.ts";

export interface Recording {
  /** The same store; what it stores is recorded. */
  store(store: FileStore): FileStore;
  /** The same model; what it is asked and answers is recorded. */
  model(model: Model): Model;
}

export interface RecordingOptions {
  path: string;
  header: CassetteHeader;
  /** Removes secrets before anything is written. */
  scrub: Scrub;
  warn(message: string): void;
}

/** Throws if the file cannot be created, or holds something that is not a recording. */
export function openRecording({ path, header, scrub, warn }: RecordingOptions): Recording {
  create(path, writeLine(scrubJson(header, scrub)));
  let isBroken = false;
  const write = (line: CassetteLine): void => {
    if (isBroken) return;
    try {
      appendFileSync(path, writeLine(scrubJson(line, scrub)));
    } catch (error) {
      isBroken = true;
      warn(`The recording ${path} is incomplete: ${(error as Error).message}.`);
    }
  };
  const known = new Set<string>();
  const last = new Map<string, ModelRequest>();
  return {
    store: (store) => ({
      ...store,
      async append(threadId, after, records) {
        if (!known.has(threadId) && after > 0)
          write({ type: "past", thread: threadId, records: store.readNow(threadId).filter(({ seq }) => seq <= after) });
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

function create(path: string, header: string): void {
  if (existsSync(path)) checkReplaceable(path);
  try {
    writeFileSync(path, header, { mode: 0o600 });
  } catch (error) {
    throw new HostError("usage", `The recording cannot be written to ${path}: ${(error as Error).message}.`);
  }
}

/** Another recording may be replaced; anything else was not meant. */
function checkReplaceable(path: string): void {
  try {
    readCassette(path);
  } catch {
    throw new HostError("usage", `${path} exists and is not a complete recording. Remove it, or choose another file.`);
  }
}
