// The files of an agent during one claim of a run: restored where another server has changed them since, and saved to the
// object store before each step is recorded as settled.
import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { SessionStore } from "@agentcli/engine";
import { forgetSync } from "../../fleet/index.ts";
import { type DataKey, Fault, type PlatformContext } from "../../foundation/index.ts";
import type { AgentWork, Workspaces } from "../../repositories/index.ts";
import { restoreDisk } from "./restore.ts";
import { type DiskFence, type DiskRow, forgetDisk, readOrAddDisk, writeDisk } from "./rows.ts";
import { openSavedDisks, type SavedDisks } from "./saved-disk.ts";
import { type DiskEntry, type Scan, scanDisk } from "./scan.ts";

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
  workspaces: Pick<Workspaces, "replace" | "directories">;
  /** Of this server. */
  location: { dataId: string; nodeName: string };
  run: DiskRun;
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
  const { objects, settings } = platform;
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
      // A machine has a disk of its own beside these files.
      const isBound = !run.isOnWorker && (!objects.isShared || settings.machines.provider !== "host");
      const row = await readOrAddDisk(db, { agentId: agent.id, fence, isResumed }, { ...options.location, isBound });
      if (row === undefined) return [];
      const own: DiskRow = { ...options.location, saveId: row.saveId, isBound };
      const warnings: string[] = [];
      if (row.dataId !== own.dataId) {
        const isLost = row.isBound && !run.isOnWorker;
        if (isLost && run.isResumed) {
          await forgetDisk(db, agent.id);
          throw lostDisk(row);
        }
        if (isLost) warnings.push(leftDisk(row));
      }
      // Copies of one data directory have the same id.
      const saveId = objects.isShared ? own.saveId : null;
      await fetchDisk({ ...options, saved, work, saveId }, signal);
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

/** The files of an agent are on another server, which alone has them. */
class DiskElsewhere extends Fault {
  override name = "DiskElsewhere";
  readonly code = "disk_elsewhere";
}

const lostDisk = ({ nodeName }: DiskRow) =>
  new DiskElsewhere(
    `The files of this agent are on ${nodeName}, which did not take the run in time. Another prompt goes on without them: its repositories begin with what was pushed, and what was not is lost. Or start that server again first.`,
  );

const leftDisk = ({ nodeName }: DiskRow): string =>
  `The files of this agent were on ${nodeName}, which has not been there for 15 minutes. The repositories begin with what was pushed; what was not is missing.`;

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
  await workspaces.replace(work, (drafts) => restoreDisk(saved, saveId, drafts), signal);
  await forgetSync(settings, directory);
  // Without entries: their times are new here, so the next save stores everything.
  await writeState(settings, directory, { saveId, entries: [] });
}

const maxPacks = 50;

function openSaver({ platform, workspaces, location, run }: RunDiskOptions, saved: SavedDisks) {
  const { db, settings } = platform;
  const { agent, fence } = run;
  let state: LocalState | null = null;
  return {
    async save(): Promise<void> {
      state ??= await readState(settings, agent.directory);
      const before = state;
      const packs = new Set(before.entries.flatMap(({ pack }) => pack ?? []));
      const former = packs.size > maxPacks ? [] : before.entries;
      const saveId = randomUUID();
      const pack = randomUUID();
      const scan: Scan = { entries: [], isChanged: former !== before.entries };
      const roots = workspaces.directories(agent.directory);
      const byPath = new Map(former.map((entry) => [entry.path, entry]));
      await saved.putPack(pack, scanDisk({ roots, former: byPath, pack }, scan));
      if (!scan.isChanged && before.saveId !== null) return;
      try {
        await saved.putEntries(saveId, scan.entries);
        await writeDisk(db, { agentId: agent.id, fence }, { ...location, saveId, isBound: false });
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

/** What this data directory has saved or fetched last. */
interface LocalState {
  saveId: string | null;
  entries: DiskEntry[];
}

const stateFile = (dataDirectory: string, directory: string): string =>
  join(dataDirectory, "disks", `${directory}.json`);

async function readState({ dataDirectory }: { dataDirectory: string }, directory: string): Promise<LocalState> {
  try {
    return JSON.parse(await readFile(stateFile(dataDirectory, directory), "utf8"));
  } catch {
    // Missing, or cut by a crash: everything is saved again.
    return { saveId: null, entries: [] };
  }
}

async function writeState(
  { dataDirectory }: { dataDirectory: string },
  directory: string,
  state: LocalState,
): Promise<void> {
  const path = stateFile(dataDirectory, directory);
  await mkdir(join(dataDirectory, "disks"), { recursive: true, mode: 0o700 });
  await writeFile(`${path}.draft`, JSON.stringify(state), { mode: 0o600 });
  await rename(`${path}.draft`, path);
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
