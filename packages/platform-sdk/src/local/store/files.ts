// The usual store: a directory per agent under one home, for its owner's eyes only.
//   <home>/agents/<agent id>/agent.json, lock, runs/<run id>.{json,jsonl,cancel}, threads/<thread id>.jsonl
import { closeSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type LineFile, type LockAttempt, makePrivateDirectory, openLineFile, takeLock } from "@agentcli/host";
import { openTrusted } from "@agentcli/host/session-files";
import { ConfigurationError } from "../../errors.ts";
import type {
  LocalAgentRecord,
  LocalAgentStore,
  LocalCheckpoint,
  LocalRunEvent,
  LocalRunRecord,
} from "../../local-store.ts";
import { openLineReader } from "./line-reader.ts";

export function openFileStore(home: string): LocalAgentStore {
  const agents = join(home, "agents");
  const pathOf = (agentId: string, ...parts: string[]) => join(agents, agentId, ...parts);
  const eventsOf = (agentId: string, runId: string) => pathOf(agentId, "runs", `${runId}.jsonl`);
  const cancelOf = (agentId: string, runId: string) => pathOf(agentId, "runs", `${runId}.cancel`);
  const threadOf = (agentId: string, threadId: string) => pathOf(agentId, "threads", `${threadId}.jsonl`);
  const writers = openWriters();
  const readEvents = openLineReader<LocalRunEvent>();
  return {
    agents: {
      list: async () => sorted(names(agents).flatMap((id) => readJson<LocalAgentRecord>(pathOf(id, "agent.json")))),
      get: async (agentId) => readJson<LocalAgentRecord>(pathOf(agentId, "agent.json"))[0] ?? null,
      put: async (agent) => replace(pathOf(agent.agentId, "agent.json"), agent),
      async delete(agentId) {
        writers.close(agentId);
        rmSync(pathOf(agentId), { recursive: true, force: true });
      },
    },
    runs: {
      async list(agentId) {
        const files = names(pathOf(agentId, "runs")).filter((name) => name.endsWith(".json"));
        return sorted(files.flatMap((name) => readJson<LocalRunRecord>(pathOf(agentId, "runs", name))));
      },
      put: async (run) => replace(pathOf(run.agentId, "runs", `${run.id}.json`), run),
      requestCancel: async (agentId, runId) => writeFileSync(cancelOf(agentId, runId), "", { mode: 0o600 }),
      isCancelRequested: async (agentId, runId) => existsSync(cancelOf(agentId, runId)),
    },
    runEvents: {
      async append(agentId, runId, events) {
        writers.file(agentId, eventsOf(agentId, runId)).append(linesOf(events));
      },
      read: async (agentId, runId, after) => readEvents(eventsOf(agentId, runId), after),
    },
    checkpoints: {
      async append(agentId, threadId, checkpoints) {
        const file = writers.file(agentId, threadOf(agentId, threadId));
        file.append(linesOf(checkpoints));
        file.sync();
      },
      read: async (agentId, threadId) => openLineReader<LocalCheckpoint>()(threadOf(agentId, threadId), 0),
    },
    async claim(agentId) {
      const attempt = lockIn(home, pathOf(agentId));
      if (attempt.kind === "busy") return { kind: "busy", holder: `process ${attempt.pid}` };
      return {
        kind: "held",
        async release() {
          writers.close(agentId);
          attempt.lock.release();
        },
      };
    },
  };
}

function lockIn(home: string, directory: string): LockAttempt {
  try {
    makePrivateDirectory(directory);
    return takeLock(join(directory, "lock"));
  } catch (cause) {
    const advice = "Set PLATFORM_SDK_HOME to a directory that can be written, or pass local.store.";
    throw new ConfigurationError(`Agents cannot be stored in ${home}: ${(cause as Error).message}. ${advice}`, {
      ...{ code: "store_unavailable", operation: "agent.send", cause },
    });
  }
}

/** Files that the holder of a claim writes, open until it is released. */
function openWriters() {
  const open = new Map<string, Map<string, LineFile>>();
  return {
    file(agentId: string, path: string): LineFile {
      const files = open.get(agentId) ?? new Map<string, LineFile>();
      open.set(agentId, files);
      const file = files.get(path) ?? openLineFile(path, agentId);
      files.set(path, file);
      return file;
    },
    close(agentId: string): void {
      for (const file of open.get(agentId)?.values() ?? []) file.close();
      open.delete(agentId);
    },
  };
}

const linesOf = (values: object[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join("");

/** In one step, so that a reader never sees half of it. */
function replace(path: string, value: object): void {
  makePrivateDirectory(dirname(path));
  const draft = `${path}.${process.pid}`;
  try {
    writeFileSync(draft, `${JSON.stringify(value)}\n`, { mode: 0o600, flush: true });
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Empty where there is none. */
function readJson<Value>(path: string): Value[] {
  let file: number | undefined;
  try {
    file = openTrusted(path);
    return [JSON.parse(readFileSync(file, "utf8"))];
  } catch (error) {
    if (isAbsent(error)) return [];
    throw new Error(`${path} cannot be read: ${(error as Error).message}. Fix or remove it.`, { cause: error });
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function names(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}

const isAbsent = (error: unknown): boolean =>
  ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "");

const sorted = <Value extends { createdAt: string }>(values: Value[]): Value[] =>
  values.sort((left, right) => left.createdAt.localeCompare(right.createdAt));
