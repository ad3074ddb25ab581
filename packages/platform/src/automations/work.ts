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
  const { log, notifications } = host.platform;
  const running = new Map<Part, Promise<void>>();
  const restedAt = new Map<Part, number>();
  let timer: NodeJS.Timeout | undefined;
  let nudge: NodeJS.Timeout | undefined;
  let looking: Promise<void> | null = null;
  let isStopped = false;
  let isChanged = false;

  const look = (): void => {
    isChanged = true;
    looking ??= lookUntilSettled().finally(() => {
      looking = null;
    });
  };

  async function lookUntilSettled(): Promise<void> {
    while (isChanged && !isStopped) {
      isChanged = false;
      try {
        const now = host.now();
        const due = await readDue(host.platform.db, new Date(now.getTime() - graceMs));
        pause(Math.min(maxPauseMs, ...parts.map((part) => advance(part, part.dueAt(due)))));
      } catch (error) {
        log.error("automations.not_looked", error);
        pause(retryMs);
      }
    }
  }

  /** Starts the part if it is due; otherwise in how many milliseconds to look again. */
  function advance(part: Part, dueAt: Date | null): number {
    if (dueAt === null || running.has(part)) return maxPauseMs;
    const inMs = Math.max(dueAt.getTime() - host.now().getTime(), (restedAt.get(part) ?? 0) + retryMs - Date.now());
    if (inMs > 0) return inMs;
    const done = part
      .work()
      .catch((error: unknown) => log.error(part.failure, error))
      .finally(() => {
        running.delete(part);
        restedAt.set(part, Date.now());
        if (!isStopped) look();
      });
    running.set(part, done);
    return maxPauseMs;
  }

  function pause(ms: number): void {
    clearTimeout(timer);
    if (!isStopped) timer = setTimeout(look, Math.max(1, ms));
  }

  const lookSoon = (): void => {
    nudge ??= setTimeout(() => {
      nudge = undefined;
      look();
    }, coalesceMs);
  };

  const unlisten = await notifications.subscribe(changesChannel, { onMessage: lookSoon, onGap: lookSoon });
  look();
  return {
    async stop() {
      isStopped = true;
      unlisten();
      clearTimeout(timer);
      clearTimeout(nudge);
      await looking;
      await Promise.all(running.values());
    },
  };
}
