// What a discrete-event simulation is made of: a clock, a processor with a queue, and numbers that are the same in each run.

/** Events by their time; equal times in the order they were added. */
export function createClock() {
  const heap = [];
  let [now, added] = [0, 0];
  const isBefore = (a, b) => a.at < b.at || (a.at === b.at && a.order < b.order);
  const up = (event) => {
    let index = heap.push(event) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(event, heap[parent])) break;
      heap[index] = heap[parent];
      index = parent;
    }
    heap[index] = event;
  };
  const pop = () => {
    const first = heap[0];
    const last = heap.pop();
    if (heap.length === 0) return first;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1], heap[child])) child += 1;
      if (!isBefore(heap[child], last)) break;
      heap[index] = heap[child];
      index = child;
    }
    heap[index] = last;
    return first;
  };
  return {
    now: () => now,
    after(seconds, act) {
      added += 1;
      up({ at: now + seconds, order: added, act });
    },
    /** At a random moment first, then at regular intervals. */
    every(seconds, random, act) {
      const again = () => {
        this.after(seconds, again);
        act();
      };
      this.after(seconds * random(), again);
    },
    runUntil(end) {
      while (heap.length > 0 && heap[0].at <= end) {
        const { at, act } = pop();
        now = at;
        act();
      }
      now = end;
    },
  };
}

/** So many jobs at once, the others in the order they came. */
export function createProcessor(clock, cores) {
  let [busy, busySeconds, head] = [0, 0, 0];
  let waiting = [];
  const begin = ({ seconds, done }) => {
    busy += 1;
    busySeconds += seconds;
    clock.after(seconds, () => {
      busy -= 1;
      if (head < waiting.length) begin(waiting[head++]);
      if (head > 10_000) [waiting, head] = [waiting.slice(head), 0];
      done?.();
    });
  };
  return {
    work(seconds, done) {
      if (busy < cores) begin({ seconds, done });
      else waiting.push({ seconds, done });
    },
    queued: () => waiting.length - head,
    busySeconds: () => busySeconds,
  };
}

/** Numbers between 0 and 1. */
export function createRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const exponential = (mean, random) => -mean * Math.log(1 - random());

export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted.length === 0 ? null : sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}
