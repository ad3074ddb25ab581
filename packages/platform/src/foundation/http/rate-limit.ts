// Counts requests in fixed windows, per server and in memory: a write per request would cost more than it guards.
import { ApiError } from "./api-error.ts";

export interface RateLimit {
  requests: number;
  seconds: number;
  /** For the message, in the plural; `requests` by default. */
  what?: string;
}

export interface RateLimiter {
  /** Counts one request, or throws `rate_limited` for one too many. */
  spend(key: string, limit: RateLimit): void;
  /** Throws `rate_limited` if the limit is reached. */
  check(key: string, limit: RateLimit): void;
  count(key: string, limit: RateLimit): void;
  /** Takes back one that was counted in the current window. */
  uncount(key: string): void;
}

interface Window {
  endsAt: number;
  used: number;
}

/** Beyond it the oldest window is forgotten: memory stays bounded, however many addresses a client has. */
const maxWindows = 100_000;

export function rateLimiter(now: () => number, max = maxWindows): RateLimiter {
  // In the order in which they began.
  const windows = new Map<string, Window>();
  const current = (key: string): Window | undefined => {
    const window = windows.get(key);
    return window && now() < window.endsAt ? window : undefined;
  };
  const begin = (key: string, seconds: number): Window => {
    const window = { endsAt: now() + seconds * 1_000, used: 0 };
    windows.delete(key);
    for (const oldest of windows.keys()) {
      if (windows.size < max) break;
      windows.delete(oldest);
    }
    windows.set(key, window);
    return window;
  };
  const check: RateLimiter["check"] = (key, limit) => {
    const window = current(key);
    if (window && window.used >= limit.requests) throw tooMany(limit, window.endsAt - now());
  };
  const count: RateLimiter["count"] = (key, { seconds }) => {
    const window = current(key) ?? begin(key, seconds);
    window.used += 1;
  };
  return {
    check,
    count,
    uncount(key) {
      const window = current(key);
      if (window && window.used > 0) window.used -= 1;
    },
    spend(key, limit) {
      check(key, limit);
      count(key, limit);
    },
  };
}

function tooMany({ requests, seconds, what }: RateLimit, waitMs: number): ApiError {
  const retryAfter = Math.max(1, Math.ceil(waitMs / 1_000));
  const counted = `${requests} ${what ?? (requests === 1 ? "request" : "requests")}`;
  return new ApiError("rate_limited", `More than ${counted} in ${seconds} s. Try again in ${retryAfter} s.`, {
    retryAfter,
  });
}
