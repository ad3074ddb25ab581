// The files of the agents on this machine, and how they are kept equal to those on the platform.
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { loadFileSync } from "@agentcli/workspace";

export interface AgentFiles {
  /**
   * The id of the last moment when the files here and on the platform were equal. `keepsChanges`: what has changed here
   * since is sent to the platform, also after it has sent files of its own.
   */
  state(agent: string): Promise<{ id: string | null; keepsChanges: true }>;
  /** `clones`: they become files of the agent first. */
  apply(request: { agent: string; id: string; isWhole: boolean; clones?: string[] }, from: Readable): Promise<void>;
  /** What has changed since that moment, but for these files. */
  send(agent: string, to: Writable, without?: string[]): Promise<void>;
  sendAll(agent: string, to: Writable): Promise<void>;
  /** Both are equal now. */
  commit(agent: string, id: string): Promise<void>;
}

/** What its commands see as /workspace. */
export const agentFiles = (dataDirectory: string, agent: string): string =>
  join(dataDirectory, "agents", agent, "files");

/** What was cloned for an agent that begins; no command sees it. */
export const clonesOf = (dataDirectory: string, agent: string): string =>
  join(dataDirectory, "agents", agent, "clones");

/** What both sides had when they were last equal. */
export const syncStateFile = (dataDirectory: string, agent: string): string =>
  join(dataDirectory, "agents", agent, "sync.json");

export function openAgentFiles(dataDirectory: string): AgentFiles {
  const filesOf = (agent: string) => agentFiles(dataDirectory, agent);
  const stateFile = (agent: string) => syncStateFile(dataDirectory, agent);

  async function commit(agent: string, id: string): Promise<void> {
    const { listFiles, writeSyncState } = await loadFileSync();
    await writeSyncState(stateFile(agent), { id, listing: await listFiles(filesOf(agent)) });
  }

  return {
    commit,
    async state(agent) {
      const { readSyncState } = await loadFileSync();
      return { id: (await readSyncState(stateFile(agent)))?.id ?? null, keepsChanges: true };
    },
    async apply({ agent, id, isWhole, clones = [] }, from) {
      const { applyChanges, listFiles, readSyncState, writeSyncState } = await loadFileSync();
      const before = isWhole ? undefined : await readSyncState(stateFile(agent));
      await rm(stateFile(agent), { force: true });
      if (isWhole) await emptyExceptHome(filesOf(agent));
      // Into the empty directory: nothing there can lead elsewhere.
      if (isWhole) await takeIn(clonesOf(dataDirectory, agent), clones, filesOf(agent));
      const limits = { maxBytes: null, maxFiles: Number.POSITIVE_INFINITY, directories: [] };
      const applied = await applyChanges(from, filesOf(agent), limits);
      if (before === undefined) return commit(agent, id);
      // What an earlier run left here, and the platform never got, stays a change.
      const known = [...before.listing].filter(([path]) => !applied.has(path));
      const written = [...(await listFiles(filesOf(agent)))].filter(([path]) => applied.has(path));
      await writeSyncState(stateFile(agent), { id, listing: new Map([...known, ...written]) });
    },
    async send(agent, to, without = []) {
      const { changesSince, listFiles, readSyncState, sendChanges } = await loadFileSync();
      const before = await readSyncState(stateFile(agent));
      if (before === undefined) throw new Error("This worker does not know what the platform has.");
      const { removed, written } = changesSince(before.listing, await listFiles(filesOf(agent)));
      const left = new Set(without);
      await sendChanges(filesOf(agent), { removed, written: written.filter((path) => !left.has(path)) }, to);
    },
    async sendAll(agent, to) {
      const { changesSince, listFiles, sendChanges } = await loadFileSync();
      await sendChanges(filesOf(agent), changesSince(new Map(), await listFiles(filesOf(agent))), to);
    },
  };
}

async function takeIn(from: string, names: string[], to: string): Promise<void> {
  for (const name of names) await rename(join(from, name), join(to, name));
  await rm(from, { recursive: true, force: true });
}

/** What the agent installed in its home stays. */
async function emptyExceptHome(files: string): Promise<void> {
  const aside = `${files}.removed`;
  await rm(aside, { recursive: true, force: true });
  await rename(files, aside);
  await mkdir(files, { mode: 0o700 });
  await rename(join(aside, ".home"), join(files, ".home")).catch(() => {});
  await rm(aside, { recursive: true, force: true });
}
