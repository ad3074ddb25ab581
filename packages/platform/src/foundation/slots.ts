// Slots that teams share: who holds some leaves others to those who hold fewer, so that no team waits for another's work to end.

/** One team alone holds three quarters of the slots; each further one finds a part of what is left. */
export const hasShare = (held: number, free: number): boolean => held < 3 * free;

export interface Slots {
  /** Waits for a slot, those of one owner in order of arrival, and throws the signal's reason if aborted before. */
  run<T>(owner: number | undefined, work: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

/** Work without an owner takes any slot that is free. */
export const openSharedSlots = (max: number): Slots =>
  openSlots((owner, { held, used }) => used < max && (owner === undefined || hasShare(held, max - used)));

/** 0: no limit. */
export const openSlotsPerOwner = (max: number): Slots => openSlots((_owner, { held }) => max === 0 || held < max);

type Owner = number | undefined;

interface Waiting {
  owner: Owner;
  start(): void;
}

function openSlots(canTake: (owner: Owner, slots: { held: number; used: number }) => boolean): Slots {
  const holders = new Map<Owner, number>();
  const waiting = new Set<Waiting>();
  let used = 0;
  const heldBy = (owner: Owner) => holders.get(owner) ?? 0;
  const count = (owner: Owner, change: 1 | -1): void => {
    used += change;
    const held = heldBy(owner) + change;
    if (held === 0) holders.delete(owner);
    else holders.set(owner, held);
  };
  const startWaiting = (): void => {
    for (const next of waiting) {
      if (!canTake(next.owner, { held: heldBy(next.owner), used })) continue;
      waiting.delete(next);
      count(next.owner, 1);
      next.start();
    }
  };
  return {
    async run(owner, work, signal) {
      signal.throwIfAborted();
      await new Promise<void>((resolve, reject) => {
        const stop = () => {
          if (waiting.delete(next)) reject(signal.reason);
        };
        const start = () => {
          signal.removeEventListener("abort", stop);
          resolve();
        };
        const next: Waiting = { owner, start };
        signal.addEventListener("abort", stop, { once: true });
        waiting.add(next);
        startWaiting();
      });
      try {
        return await work();
      } finally {
        count(owner, -1);
        startWaiting();
      }
    },
  };
}
