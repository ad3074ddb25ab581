// Limits how often each agent gets a token: some at once, then as many as come back with time.

export interface BucketLimit {
  burst: number;
  perMinute: number;
}

export interface Buckets {
  /** 0 if one was taken; otherwise the seconds after which there is one. */
  take(name: string): number;
}

/** `now`: milliseconds that cannot be set. */
export function openBuckets({ burst, perMinute }: BucketLimit, now: () => number): Buckets {
  const perMs = perMinute / 60_000;
  const buckets = new Map<string, { left: number; at: number }>();
  const leftIn = (name: string): number => {
    const { left, at } = buckets.get(name) ?? { left: burst, at: now() };
    return Math.min(burst, left + (now() - at) * perMs);
  };
  return {
    take(name) {
      // A full one need not be remembered.
      for (const other of buckets.keys()) if (leftIn(other) >= burst) buckets.delete(other);
      const left = leftIn(name);
      if (left < 1) return Math.ceil((1 - left) / perMs / 1_000);
      buckets.set(name, { left: left - 1, at: now() });
      return 0;
    },
  };
}
