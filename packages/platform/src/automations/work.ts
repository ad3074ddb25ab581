// Works when something is due: at its time, or when the database says that something has changed. A look at least once a
// minute finds what a lost message was about; that look is one statement.
import type { Activity } from "../foundation/index.ts";
import { type Due, readDue } from "./due.ts";
import { graceMs } from "./firings/judge.ts";
import type { AutomationHost } from "./host.ts";

/** Sent by triggers of the tables. */
export const changesChannel = "automations";
const maxPauseMs = 60_000;
/** What is due and was not done, because another server has it or it failed, is tried again after that. */
const retryMs = 1_000;
/** Messages within that time are one: in a burst there are thousands. */
const coalesceMs = 20;

export interface Part {
  /** In the log. */
  failure: string;
  /** When it has something to do; null: not before something changes. */
  dueAt(due: Due): Date | null;
  /** All that is due. */
  work(): Promise<void>;
}

/** Each part works beside the others, never twice at once. */
export async function startWork(host: AutomationHost, parts: Part[]): Promise<Activity> {
  const { log, notifications, db } = host.platform;
  const clock = openClock(() => look());
  const working = openParts(host, parts, () => look());
  let looking: Promise<void> | null = null;
  let isChanged = false;

  function look(): void {
    isChanged = true;
    looking ??= lookUntilSettled().finally(() => {
      looking = null;
    });
  }

  async function lookUntilSettled(): Promise<void> {
    while (isChanged && !clock.isStopped()) {
      isChanged = false;
      try {
        const due = await readDue(db, new Date(host.now().getTime() - graceMs));
        clock.wakeIn(working.advance(due));
      } catch (error) {
        log.error("automations.not_looked", error);
        clock.wakeIn(retryMs);
      }
    }
  }

  const soon = () => clock.wakeSoon();
  const unlisten = await notifications.subscribe(changesChannel, { onMessage: soon, onGap: soon });
  look();
  return {
    async stop() {
      unlisten();
      clock.stop();
      await looking;
      await working.settled();
    },
  };
}

interface Clock {
  /** Replaces the time that was set before. */
  wakeIn(ms: number): void;
  /** Beside the time that is set. */
  wakeSoon(): void;
  isStopped(): boolean;
  stop(): void;
}

function openClock(wake: () => void): Clock {
  let timer: NodeJS.Timeout | undefined;
  let nudge: NodeJS.Timeout | undefined;
  let isStopped = false;
  return {
    wakeIn(ms) {
      clearTimeout(timer);
      if (!isStopped) timer = setTimeout(wake, Math.max(1, ms));
    },
    wakeSoon() {
      if (isStopped) return;
      nudge ??= setTimeout(() => {
        nudge = undefined;
        wake();
      }, coalesceMs);
    },
    isStopped: () => isStopped,
    stop() {
      isStopped = true;
      clearTimeout(timer);
      clearTimeout(nudge);
    },
  };
}

interface WorkingParts {
  /** Starts what is due; returns in how many milliseconds to look again. */
  advance(due: Due): number;
  settled(): Promise<void>;
}

function openParts({ now, platform: { log } }: AutomationHost, parts: Part[], onRest: () => void): WorkingParts {
  const running = new Map<Part, Promise<void>>();
  const restedAt = new Map<Part, number>();

  function advance(part: Part, dueAt: Date | null): number {
    if (dueAt === null || running.has(part)) return maxPauseMs;
    const inMs = Math.max(dueAt.getTime() - now().getTime(), (restedAt.get(part) ?? 0) + retryMs - Date.now());
    if (inMs > 0) return inMs;
    const done = part
      .work()
      .catch((error: unknown) => log.error(part.failure, error))
      .finally(() => {
        running.delete(part);
        restedAt.set(part, Date.now());
        onRest();
      });
    running.set(part, done);
    return maxPauseMs;
  }

  return {
    advance: (due) => Math.min(maxPauseMs, ...parts.map((part) => advance(part, part.dueAt(due)))),
    settled: async () => void (await Promise.all(running.values())),
  };
}
