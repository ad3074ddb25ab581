// The head of the audit log, kept outside of the database: whoever cuts off the end there does not reach it here.
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Activity, Platform } from "../platform.ts";
import { type Head, headText, readHead } from "./chain.ts";
import { headQuery } from "./stored.ts";

const fileIn = (dataDirectory: string): string => join(dataDirectory, "audit-head");

/** Null where no server has kept one. */
export async function readAnchor(dataDirectory: string): Promise<Head | null> {
  try {
    return readHead(await readFile(fileIn(dataDirectory), "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** Entries come in crowds; one look for all of a second is enough. */
const gatherMs = 1_000;

/** Writes the head down whenever it has moved, and once more at the end. */
export async function keepAnchor({ db, notifications, settings, log }: Platform): Promise<Activity> {
  const stop = new AbortController();
  let isWanted = false;
  let wake = (): void => {};
  const want = () => {
    isWanted = true;
    wake();
  };
  const unsubscribe = await notifications.subscribe("audit", { onMessage: want, onGap: want });
  const keep = async (): Promise<void> => {
    isWanted = false;
    try {
      const head = await headQuery(db).executeTakeFirst();
      if (head) await write(settings.dataDirectory, head);
    } catch (error) {
      log.error("audit.anchor_failed", error);
    }
  };
  const watch = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      await keep();
      if (!isWanted) await new Promise<void>((resolve) => (wake = resolve));
      await pause(gatherMs, undefined, { signal: stop.signal }).catch(() => {});
    }
    await keep();
  };
  const watching = watch();
  return {
    async stop() {
      unsubscribe();
      stop.abort();
      want();
      await watching;
    },
  };
}

/** Never back: of two servers the slower one must not undo what the other knows. */
async function write(dataDirectory: string, head: Head): Promise<void> {
  const known = await readAnchor(dataDirectory);
  if (known && known.seq >= head.seq) return;
  const draft = `${fileIn(dataDirectory)}.${process.pid}`;
  await writeFile(draft, `${headText(head)}\n`, { mode: 0o600 });
  await rename(draft, fileIn(dataDirectory));
}
