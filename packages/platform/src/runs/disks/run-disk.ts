// The files of an agent during one claim of a run: restored where another server has changed them since, and saved to the
// object store before each step is recorded as settled.
import { randomUUID } from "node:crypto";
import type { SessionStore } from "@agentcli/engine";
import { forgetSync } from "../../fleet/index.ts";
import { type DataKey, Fault, type PlatformContext } from "../../foundation/index.ts";
import type { AgentWork, Workspaces } from "../../repositories/index.ts";
import { type LocalState, readState, removeState, writeState } from "./local-state.ts";
import { restoreDisk } from "./restore.ts";
import { type DiskFence, type DiskRow, forgetDisk, readOrAddDisk, writeDisk } from "./rows.ts";
import { IncompleteSave, openSavedDisks, type SavedDisks } from "./saved-disk.ts";
import { identifyFiles, type Scan, scanDisk, TooManyFiles } from "./scan.ts";

export interface RunDisk {
  /**
   * Before the workspace is opened. Returns warnings. Throws DiskElsewhere if a run that has begun needs files of another
   * server that cannot be fetched.
   */
  prepare(work: AgentWork, signal: AbortSignal): Promise<string[]>;
  /** Saves the files before it appends the result of a call. */
  savingStore(store: SessionStore): SessionStore;
  /** What changed since the last save. Nothing where there is no object store. Throws StaleWriter. */
  save(): Promise<void>;
}

export interface RunDiskOptions {
  platform: Pick<PlatformContext, "db" | "settings" | "objects">;
  workspaces: Pick<Workspaces, "replace" | "directories" | "remove">;
  /** Of this server. */
  location: { dataId: string; nodeName: string };
  run: DiskRun;
  /** For tests. */
  maxEntries?: number;
}

interface DiskRun {
  agent: { id: string; directory: string };
  key: DataKey;
  fence: DiskFence;
  isOnWorker: boolean;
  /** Whether an earlier driver has had it. */
  isResumed: boolean;
}

export function openRunDisk(options: RunDiskOptions): RunDisk {
  const { platform, run } = options;
  const { objects } = platform;
  const saved = openSavedDisks(objects.store, run);
  const saver = openSaver(options, saved);
  const save = objects.isShared ? oneAtATime(saver.save) : async () => {};
  return {
    save,
    async prepare(work, signal) {
      // A cancelled run may be claimed by any server, and changes nothing.
      signal.throwIfAborted();
      const { db } = platform;
      const { agent, fence, isResumed } = run;
      const added = { ...options.location, isBound: staysHere(options) };
      const row = await readOrAddDisk(db, { agentId: agent.id, fence, isResumed }, added);
      if (row === undefined) return [];
      const isUnsaved = objects.isShared && row.isBound && row.dataId === added.dataId;
      const isBound = isUnsaved || added.isBound;
      const own: DiskRow = { ...added, saveId: row.saveId, isBound };
      const warnings: string[] = [];
      if (isUnsaved && (await readState(platform.settings, agent.directory)).isTooLarge) warnings.push(tooLarge);
      if (row.dataId !== own.dataId && row.isBound) {
        // A backup has the files as they were when it was made.
        if (row.saveId === null && row.dataId !== "") await removeCopy(options);
        if (row.saveId === null && isResumed) {
          await forgetDisk(db, agent.id);
          throw lostDisk(row, run);
        }
        warnings.push(row.saveId === null ? leftDisk(row, run) : leftMachine(row));
      }
      // Copies of one data directory have the same id.
      const saveId = objects.isShared ? own.saveId : null;
      await fetchDisk({ ...options, saved, work, saveId }, signal).catch((error: unknown) => {
        if (row.dataId !== "" || !(error instanceof IncompleteSave)) throw error;
        warnings.push(notInStore);
        own.saveId = null;
      });
      if (row.dataId !== own.dataId || row.isBound !== isBound) await writeDisk(db, { agentId: agent.id, fence }, own);
      return warnings;
    },
    savingStore: (store) => ({
      ...store,
      async append(threadId, after, records) {
        if (records.some(({ type }) => type === "tool.settled")) await save();
        return store.append(threadId, after, records);
      },
    }),
  };
}

/** A machine has a disk of its own beside the files that are saved. */
const staysHere = ({ platform: { objects, settings }, run }: RunDiskOptions): boolean =>
  !run.isOnWorker && (!objects.isShared || settings.machines.provider !== "host");

const tooLarge =
  "This agent has more files and directories than are copied to the object store (100,000): it stays with its server. Have it remove what it does not need.";

/** The files of an agent are on another server, which alone has them. */
class DiskElsewhere extends Fault {
  override name = "DiskElsewhere";
  readonly code = "disk_elsewhere";
}

/** A run on a worker does not wait: it is driven by the server that its worker is connected to. */
const lostDisk = ({ nodeName }: DiskRow, { isOnWorker }: DiskRun) =>
  new DiskElsewhere(
    `The files of this agent are on ${nodeName}, which ${isOnWorker ? "alone has them" : "did not take the run in time"}. Another prompt goes on without them: its repositories begin with what was pushed, and what was not is lost. Or start that server again first.`,
  );

const leftDisk = ({ nodeName }: DiskRow, { isOnWorker }: DiskRun): string =>
  `The files of this agent were on ${nodeName}, which ${isOnWorker ? "alone has them" : "has not been there for 15 minutes"}. The repositories begin with what was pushed; what was not is missing.`;

const leftMachine = ({ nodeName }: DiskRow): string =>
  `The machine of this agent was on ${nodeName}, which has not been there for 15 minutes. Its files in /workspace are those of its last finished step; what it installed or wrote elsewhere is lost.`;

/** The store was not restored with the backup, or to another time: what the backup has of the files is there. */
const notInStore =
  "This platform was restored from a backup, and the object store does not have the files of this agent as they were then. The agent begins with those in the backup, or with what was pushed.";

interface Fetching extends RunDiskOptions {
  saved: SavedDisks;
  work: AgentWork;
  saveId: string | null;
}

/** Nothing was saved before the first settled step. What this server has already is not fetched again. */
async function fetchDisk({ platform, workspaces, run, saved, work, saveId }: Fetching, signal: AbortSignal) {
  const { settings } = platform;
  const { directory } = run.agent;
  if (saveId === null || (await readState(settings, directory)).saveId === saveId) return;
  const entries = await saved.readEntries(saveId);
  await workspaces.replace(work, (drafts) => restoreDisk(saved, entries, drafts), signal);
  await forgetSync(settings, directory);
  const restored = await identifyFiles(workspaces.directories(directory), entries);
  await writeState(settings, directory, { saveId, entries: restored });
}

/** What this server has from when it had the agent last is older than what is lost: the agent begins with what was pushed. */
async function removeCopy({ platform: { settings }, workspaces, run }: RunDiskOptions): Promise<void> {
  const { directory } = run.agent;
  await workspaces.remove(directory);
  await forgetSync(settings, directory);
  await removeState(settings, directory);
}

const maxPacks = 50;

function openSaver(options: RunDiskOptions, saved: SavedDisks) {
  const { platform, workspaces, location, run } = options;
  const { db, settings } = platform;
  const { agent, fence } = run;
  const isBound = staysHere(options);
  // A run on a worker is saved once, at its end, and cannot wait for the server that has its files.
  const maxEntries = run.isOnWorker ? Number.POSITIVE_INFINITY : options.maxEntries;
  let state: LocalState | null = null;
  let isTooLarge = false;
  return {
    async save(): Promise<void> {
      if (isTooLarge) return;
      state ??= await readState(settings, agent.directory);
      const before = state;
      const packs = new Set(before.entries.flatMap(({ pack }) => pack ?? []));
      const former = packs.size > maxPacks ? [] : before.entries;
      const saveId = randomUUID();
      const pack = randomUUID();
      const scan: Scan = { entries: [], isChanged: former !== before.entries };
      const roots = workspaces.directories(agent.directory);
      const byPath = new Map(former.map((entry) => [entry.path, entry]));
      try {
        await saved.putPack(pack, scanDisk({ roots, former: byPath, pack, ...(maxEntries && { maxEntries }) }, scan));
      } catch (error) {
        if (!(error instanceof TooManyFiles)) throw error;
        // What was saved before is older than what the records say: no server begins with it.
        await writeDisk(db, { agentId: agent.id, fence }, { ...location, saveId: null, isBound: true });
        if (!before.isTooLarge) await writeState(settings, agent.directory, { ...before, isTooLarge: true });
        isTooLarge = true;
        return;
      }
      if (!scan.isChanged && before.saveId !== null && !before.isTooLarge) return;
      try {
        await saved.putEntries(saveId, scan.entries);
        await writeDisk(db, { agentId: agent.id, fence }, { ...location, saveId, isBound });
      } catch (error) {
        // Another driver goes on from what was saved before. The first error counts.
        await saved.remove([saveId, pack]).catch(() => {});
        throw error;
      }
      state = { saveId, entries: scan.entries };
      await writeState(settings, agent.directory, state);
      const used = new Set(scan.entries.flatMap((entry) => entry.pack ?? []));
      const unused = [...packs].filter((name) => !used.has(name));
      await saved.remove([...unused, ...(before.saveId === null ? [] : [before.saveId])]);
    },
  };
}

/** Callers during a save share the next one, which sees what they have changed. */
function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  let next: Promise<void> | null = null;
  return () => {
    next ??= running.then(
      () => begin(),
      () => begin(),
    );
    return next;
  };
  function begin(): Promise<void> {
    next = null;
    running = work();
    return running;
  }
}
