// Sessions as files under the agent home. A file is created with the first record.
import type { SessionStore, StoredRecord } from "@agentcli/engine";
import type { ThreadRecord } from "@agentcli/protocol";
import { HostError } from "../host-error.ts";
import { openSessionFile, type SessionFile } from "./file.ts";
import { findDamage, readLines, writeLine } from "./lines.ts";
import { findSessionPath, newSessionPath } from "./paths.ts";
import { timeOf } from "./thread-id.ts";

export interface FileStore extends SessionStore {
  /** Explains why a thread cannot be folded, if a damaged line is the reason. */
  findDamage(threadId: string): Promise<HostError | null>;
  /** The records stored now; none for an unknown thread. */
  readNow(threadId: string): StoredRecord[];
  /** Acquires the writer's lock of an existing thread before it is read. */
  claim(threadId: string): void;
  /** Path of the session file; null if the thread is not stored in a file. */
  path(threadId: string): string | null;
  /** Begins a thread with records of another, numbers and times as they are. */
  begin(threadId: string, records: StoredRecord[]): void;
  close(): void;
}

export const openStore = ({ ephemeral }: { ephemeral: boolean }, home: string): FileStore =>
  ephemeral ? openMemoryStore() : openFileStore(home);

export function openFileStore(home: string): FileStore {
  const open = new Map<string, SessionFile>();
  const pathOf = (threadId: string) => newSessionPath(home, threadId, timeOf(threadId));
  const fileOf = (threadId: string): SessionFile => {
    const opened = open.get(threadId);
    if (opened) return opened;
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
    begin(threadId, records) {
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
      const text = stored.map(writeLine).join("");
      file.append(text);
      if (records.some(mustBeOnDisk)) file.sync();
      if (text.length > maxWithoutPause) await new Promise((resolve) => setImmediate(resolve));
      return stored;
    },
    readNow(threadId) {
      const path = findSessionPath(home, threadId);
      return path ? readLines(path) : [];
    },
    async *read(threadId, after = 0) {
      const path = findSessionPath(home, threadId);
      if (path) yield readLines(path).filter((stored) => stored.seq > after && !letsOut(stored));
    },
    path: (threadId) => open.get(threadId)?.path ?? null,
    close() {
      for (const file of open.values()) file.close();
      open.clear();
    },
  };

  /** No search: the path follows from the id, also when a run was killed while writing the first line. */
  function createFile(threadId: string): SessionFile {
    const file = open.get(threadId) ?? openSessionFile(pathOf(threadId), threadId);
    open.set(threadId, file);
    return file;
  }
}

/** Writing 2 MB takes 10 to 25 ms: before they are shown too, a terminal interface in this process answers keys. */
const maxWithoutPause = 256 * 1024;

/** For --ephemeral: nothing outlives the process. */
export function openMemoryStore(): FileStore {
  const threads = new Map<string, StoredRecord[]>();
  return {
    claim() {},
    begin: (threadId, records) => void threads.set(threadId, records),
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

/**
 * An approval to leave the sandbox is for the process that asked: otherwise one line in a session file would be enough to run
 * a command outside. A resumed call needs another.
 */
const letsOut = ({ record }: StoredRecord): boolean => {
  if (record.type !== "noted" || record.kind !== "approval") return false;
  // A damaged line may have anything there.
  const data = record.data as { outside?: unknown } | undefined | null;
  return data?.outside === true;
};

/** Removed after it was found. */
const gone = (threadId: string): HostError => new HostError("usage", `Session ${threadId} has just been removed.`);

function stamp(after: number, records: ThreadRecord[]): StoredRecord[] {
  const at = new Date().toISOString();
  return records.map((record, index) => ({ seq: after + index + 1, at, record }));
}

const mustBeOnDisk = (record: ThreadRecord): boolean =>
  record.type === "turn.begun" ||
  record.type === "turn.ended" ||
  (record.type === "tool.begun" && record.onResume === "once");
