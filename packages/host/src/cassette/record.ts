// Writes a run to a cassette while it happens: every record of every thread, every exchange with a model.
import { closeSync, constants, fstatSync, openSync, realpathSync, writeSync } from "node:fs";
import { type Model, type ModelRequest, type Scrub, scrubJson } from "@agentcli/engine";
import { HostError } from "../host-error.ts";
import type { FileStore } from "../sessions/index.ts";
import { compress, readCassette, writeLine } from "./cassette.ts";
import type { CassetteHeader, CassetteLine } from "./format.ts";

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
  const file = createFile(path, writeLine(scrubJson(header, scrub)));
  let isBroken = false;
  const write = (line: CassetteLine): void => {
    if (isBroken) return;
    try {
      file.append(writeLine(scrubJson(line, scrub)));
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

interface RecordingFile {
  append(text: string): void;
}

function createFile(path: string, header: string): RecordingFile {
  try {
    return openFile(...created(path), header);
  } catch (error) {
    if (error instanceof HostError) throw error;
    throw new HostError("usage", `The recording cannot be written to ${path}: ${(error as Error).message}.`);
  }
}

/** Neither creates nor follows what a link names, unless that is a recording already. */
function created(path: string): [target: string, descriptor: number] {
  try {
    return [path, openSync(path, "wx", 0o600)];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  checkReplaceable(path);
  const target = realpathSync(path);
  return [target, openSync(target, constants.O_WRONLY | constants.O_TRUNC | constants.O_NOFOLLOW)];
}

/** An agent can replace a file in its workspace by a link to any other: only the file that was created is written. */
function openFile(path: string, descriptor: number, header: string): RecordingFile {
  const { dev, ino } = fstatSync(descriptor);
  const write = (opened: number, text: string) => {
    try {
      const now = fstatSync(opened);
      if (now.dev !== dev || now.ino !== ino) throw new Error("it was replaced by another file");
      writeWhole(opened, Buffer.from(text));
    } finally {
      closeSync(opened);
    }
  };
  write(descriptor, header);
  return {
    append: (text) => write(openSync(path, constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW), text),
  };
}

function writeWhole(descriptor: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
}

/** Another recording may be replaced; anything else was not meant. */
function checkReplaceable(path: string): void {
  try {
    readCassette(path);
  } catch {
    throw new HostError("usage", `${path} exists and is not a complete recording. Remove it, or choose another file.`);
  }
}
