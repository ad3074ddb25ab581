// Limits what one caller may have under way at once.
import { ApiError } from "./api-error.ts";

export interface ConcurrencyLimit {
  /** Whose: `address 192.0.2.1`. */
  key: string;
  /** 0: no limit. */
  max: number;
  /** For the message: `requests`. */
  what: string;
  /** What it takes of it; 1 by default. */
  amount?: number;
}

const retryAfterSeconds = 1;

/** The returned function takes a slot, or throws `rate_limited`; its result returns the slot, once. */
export function concurrencyLimiter(): (limit: ConcurrencyLimit) => () => void {
  const used = new Map<string, number>();
  return ({ key, max, what, amount = 1 }) => {
    if (max === 0) return () => {};
    const before = used.get(key) ?? 0;
    if (before + amount > max)
      throw new ApiError("rate_limited", `More than ${max} ${what} at once. Try again when one of them has ended.`, {
        retryAfter: retryAfterSeconds,
      });
    used.set(key, before + amount);
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      const left = (used.get(key) ?? amount) - amount;
      if (left === 0) used.delete(key);
      else used.set(key, left);
    };
  };
}
