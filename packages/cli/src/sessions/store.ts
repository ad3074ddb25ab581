// Sessions as files under the agent home. A file is made with the first record, never for a thread without one.
import type { SessionStore, StoredRecord } from "@agentcli/engine";
import type { ThreadRecord } from "@agentcli/protocol";
import { Problem } from "../problem.ts";
import { openSessionFile, type SessionFile } from "./file.ts";
import { findDamage, readLines, writeLine } from "./lines.ts";
import { findSessionPath, newSessionPath } from "./paths.ts";
import { timeOf } from "./thread-id.ts";

export interface FileStore extends SessionStore {
  /** Explains why a thread cannot be folded, where a damaged line is the reason. */
  findDamage(threadId: string): Promise<Problem | null>;
  /** What is there at this moment; nothing for a thread that is not. */
  readNow(threadId: string): StoredRecord[];
  /** Takes the writer's lock on an existing thread before anything is read from it. */
  claim(threadId: string): void;
  /** Where the thread is kept; null where it is not. */
  path(threadId: string): string | null;
  /** Begins a thread with records of another, numbers and times as they are. */
  adopt(threadId: string, records: StoredRecord[]): void;
  close(): void;
}

export const openStore = ({ ephemeral }: { ephemeral: boolean }, home: string): FileStore =>
  ephemeral ? openMemoryStore() : openFileStore(home);

export function openFileStore(home: string): FileStore {
  const open = new Map<string, SessionFile>();
  const pathOf = (threadId: string) => newSessionPath(home, threadId, timeOf(threadId));
  const fileOf = (threadId: string): SessionFile => {
    const known = open.get(threadId);
    if (known) return known;
    const path = findSessionPath(home, threadId) ?? pathOf(threadId);
    const file = openSessionFile(path, threadId);
    open.set(threadId, file);
    return file;
  };
  return {
    claim(threadId) {
      if (!findSessionPath(home, threadId)) throw gone(threadId);
      fileOf(threadId);
    },
    adopt(threadId, records) {
      const file = createFile(threadId);
      file.append(records.map(writeLine).join(""));
      file.sync();
    },
    async findDamage(threadId) {
      const path = findSessionPath(home, threadId);
      return path ? findDamage(path) : null;
    },
    async append(threadId, after, records) {
      const stored = stamp(after, records);
      const file = after === 0 ? createFile(threadId) : fileOf(threadId);
      file.append(stored.map(writeLine).join(""));
      if (records.some(mustBeOnDisk)) file.sync();
      return stored;
    },
    readNow(threadId) {
      const path = findSessionPath(home, threadId);
      return path ? readLines(path) : [];
    },
    async *read(threadId, after = 0) {
      const path = findSessionPath(home, threadId);
      if (path) yield readLines(path).filter(({ seq }) => seq > after);
    },
    path: (threadId) => open.get(threadId)?.path ?? null,
    close() {
      for (const file of open.values()) file.close();
      open.clear();
    },
  };

  /** Looks for nothing: where a run was killed in the first line of a thread, the id leads to the same file. */
  function createFile(threadId: string): SessionFile {
    const file = open.get(threadId) ?? openSessionFile(pathOf(threadId), threadId);
    open.set(threadId, file);
    return file;
  }
}

/** For --ephemeral: nothing outlives the process. */
export function openMemoryStore(): FileStore {
  const threads = new Map<string, StoredRecord[]>();
  return {
    claim() {},
    adopt: (threadId, records) => void threads.set(threadId, records),
    findDamage: async () => null,
    async append(threadId, after, records) {
      const stored = stamp(after, records);
      threads.set(threadId, [...(threads.get(threadId) ?? []), ...stored]);
      return stored;
    },
    async *read(threadId, after = 0) {
      yield (threads.get(threadId) ?? []).filter(({ seq }) => seq > after);
    },
    readNow: (threadId) => threads.get(threadId) ?? [],
    path: () => null,
    close() {},
  };
}

/** Removed after it was found. */
const gone = (threadId: string): Problem => new Problem("usage", `Session ${threadId} has just been removed.`);

function stamp(after: number, records: ThreadRecord[]): StoredRecord[] {
  const at = new Date().toISOString();
  return records.map((record, index) => ({ seq: after + index + 1, at, record }));
}

const mustBeOnDisk = (record: ThreadRecord): boolean =>
  record.type === "turn.begun" ||
  record.type === "turn.ended" ||
  (record.type === "tool.begun" && record.onResume === "once");
