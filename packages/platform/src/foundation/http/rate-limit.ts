// Counts requests in fixed windows, per server and in memory: a write per request would cost more than it guards.
import { ApiError } from "./api-error.ts";

export interface RateLimit {
  requests: number;
  seconds: number;
}

const maxWindows = 100_000;

/** The returned function throws `rate_limited` for one request too many. */
export function rateLimiter(now: () => number): (key: string, limit: RateLimit) => void {
  const windows = new Map<string, { endsAt: number; used: number }>();
  return (key, { requests, seconds }) => {
    const at = now();
    const known = windows.get(key);
    const window = known && at < known.endsAt ? known : { endsAt: at + seconds * 1_000, used: 0 };
    if (windows.size >= maxWindows) dropEnded(windows, at);
    windows.set(key, window);
    if (++window.used <= requests) return;
    const retryAfter = Math.max(1, Math.ceil((window.endsAt - at) / 1_000));
    throw new ApiError(
      "rate_limited",
      `More than ${requests} ${requests === 1 ? "request" : "requests"} in ${seconds} s. Try again in ${retryAfter} s.`,
      {
        retryAfter,
      },
    );
  };
}

function dropEnded(windows: Map<string, { endsAt: number }>, at: number): void {
  for (const [key, { endsAt }] of windows) if (endsAt <= at) windows.delete(key);
}
