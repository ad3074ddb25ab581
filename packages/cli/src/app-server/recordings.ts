// Recordings of an app server: one file for each thread, with its sub-agents.
import { join, resolve } from "node:path";
import type { RunOptions, Tape } from "@agentcli/host";
import type { FileRecording } from "@agentcli/host/cassette";
import { makePrivateDirectory } from "@agentcli/host/private-directory";
import type { FileStore } from "@agentcli/host/sessions";
import type { Program } from "../program.ts";

export interface ThreadRecordings {
  /** For a run of any thread; which one it is shows with its first record. */
  tape(options: RunOptions, program: Program): Promise<Tape>;
}

export function openThreadRecordings(directory: string, cwd: string): ThreadRecordings {
  const folder = resolve(cwd, directory);
  makePrivateDirectory(folder);
  const byThread = new Map<string, FileRecording>();
  return {
    async tape(options, program) {
      const { startRecording } = await import("../exec/tape.ts");
      const start = (threadId: string) =>
        startRecording({ path: join(folder, `${threadId}.jsonl`), command: "app-server", options }, program).recording;
      return {
        store: (store) => recordingStore(store, byThread, start),
        async openModel(open) {
          const model = await open();
          return {
            reply: (request, onProgress, signal) =>
              (byThread.get(request.cacheKey)?.model(model) ?? model).reply(request, onProgress, signal),
          };
        },
        servers: "started",
      };
    },
  };
}

/** Threads that come after the first one of a run are its sub-agents. */
function recordingStore(
  store: FileStore,
  byThread: Map<string, FileRecording>,
  start: (threadId: string) => FileRecording,
): FileStore {
  let main: FileRecording | undefined;
  return {
    ...store,
    async append(threadId, after, records) {
      const recording = byThread.get(threadId) ?? main ?? start(threadId);
      main ??= recording;
      byThread.set(threadId, recording);
      return recording.store(store).append(threadId, after, records);
    },
  };
}
