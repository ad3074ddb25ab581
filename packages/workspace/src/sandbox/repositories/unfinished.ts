// Notes of runs whose workspace is still to be searched, one file each: the next run finds there what a killed one left.
import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isRunning, ownIdentity, type ProcessIdentity } from "../../process-identity.ts";
import { type EarlierRun, searchAfter, type WatchedRun } from "./watch.ts";

export interface UnfinishedRun {
  /** From now on commands may have created repositories. */
  begin(): void;
  /** Everything that ran has ended, and the workspace was searched. */
  end(): void;
}

interface Note {
  process: ProcessIdentity;
  run: WatchedRun;
}

/** The time of the last one is when the run was killed, at the earliest. */
const heartbeatMs = 5_000;
/** A process that is busy or was stopped for a moment is late with its heartbeat. */
const maxLateMs = 60_000;

/** Without a note a killed run is not searched for; the run itself goes on. */
export function openUnfinished(directory: string | undefined, describe: () => WatchedRun): UnfinishedRun {
  let current: { path: string; timer: NodeJS.Timeout } | undefined;
  return {
    begin() {
      if (directory === undefined || current) return;
      const path = join(directory, `${process.pid}-${Math.random().toString(36).slice(2)}.json`);
      const note: Note = { process: ownIdentity(), run: describe() };
      attempt(() => {
        mkdirSync(directory, { recursive: true, mode: 0o700 });
        writeFileSync(path, JSON.stringify(note), { mode: 0o600 });
      });
      const beat = () => attempt(() => utimesSync(path, new Date(), new Date()));
      current = { path, timer: setInterval(beat, heartbeatMs).unref() };
    },
    end() {
      if (directory === undefined || !current) return;
      clearInterval(current.timer);
      removeNote(directory, current.path);
      current = undefined;
    },
  };
}

/** One sentence for each repository that killed runs have created or changed. */
export async function searchUnfinished(directory: string): Promise<string[]> {
  const sentences: string[] = [];
  for (const name of notesIn(directory)) {
    const path = join(directory, name);
    const earlier = readNote(path);
    if (earlier === "running") continue;
    if (earlier) sentences.push(...(await searchAfter(earlier)));
    removeNote(directory, path);
  }
  return sentences;
}

function notesIn(directory: string): string[] {
  try {
    return readdirSync(directory).filter((name) => name.endsWith(".json"));
  } catch {
    return [];
  }
}

/** Null if it cannot be read: its process was killed while it wrote, before the first command. */
function readNote(path: string): EarlierRun | "running" | null {
  try {
    const { process, run } = JSON.parse(readFileSync(path, "utf8")) as Note;
    if (isRunning(process)) return "running";
    return { ...run, endedMs: statSync(path).mtimeMs + maxLateMs };
  } catch {
    return null;
  }
}

/** With the directory, so that the next start has nothing to list. */
function removeNote(directory: string, path: string): void {
  attempt(() => rmSync(path, { force: true }));
  attempt(() => rmdirSync(directory));
}

function attempt(act: () => void): void {
  try {
    act();
  } catch {
    // A full or read-only disk, or another note beside it.
  }
}
