// What requests and responses keep in memory at once.
import type { Context } from "hono";
import type { ConcurrencyLimit } from "./concurrency.ts";
import type { Env } from "./env.ts";

/** Of one user or service account. Two of the largest that a route takes, or many of the usual ones. */
const maxBodyBytes = 256 * 1024 * 1024;

/** Of one address, and of one sender. Two of the largest that GitHub sends, or many of the usual ones. */
const maxUnverifiedBytes = 64 * 1024 * 1024;

/** Of one team. Two of the largest artifacts, or many small ones. */
const maxDownloadBytes = 512 * 1024 * 1024;

/** Until the response ends. */
export type Hold = (context: Context<Env>, limit: ConcurrencyLimit) => void;

export interface ByteLimits {
  /** Counts the announced body of a request, which is kept in memory, until the response ends. Throws `rate_limited`. */
  admitBody(context: Context<Env>, sender: { name: string }, maxBytes: number): void;
  /** The same of a body that must be read before it is known who sent it: it counts for its address too. */
  admitUnverifiedBody(context: Context<Env>, sender: { name: string }, maxBytes: number): void;
  /** Counts what the response of a download keeps in memory, until it ends. Throws `rate_limited`. */
  admitDownload(context: Context<Env>, teamId: number, bytes: number): void;
}

export function byteLimits(
  { concurrentRequests }: { concurrentRequests: number },
  hold: Hold,
  addressOf: (context: Context<Env>) => string,
): ByteLimits {
  const announcedBytes = ({ env }: Context<Env>, maxBytes: number): number =>
    Math.min(Number(env.incoming.headers["content-length"] ?? maxBytes), maxBytes);
  return {
    admitBody(context, { name }, maxBytes) {
      if (concurrentRequests === 0) return;
      const amount = announcedBytes(context, maxBytes);
      hold(context, { key: `bodies ${name}`, max: maxBodyBytes, what: "bytes of requests of one sender", amount });
    },
    admitUnverifiedBody(context, { name }, maxBytes) {
      if (concurrentRequests === 0) return;
      const [amount, max] = [announcedBytes(context, maxBytes), maxUnverifiedBytes];
      const key = `unverified ${addressOf(context)}`;
      hold(context, { key, max, what: "bytes of unverified requests from one address", amount });
      hold(context, { key: `unverified ${name}`, max, what: "bytes of unverified requests of one sender", amount });
    },
    admitDownload(context, teamId, amount) {
      if (concurrentRequests === 0) return;
      const what = "bytes of downloads of one team";
      hold(context, { key: `downloads ${teamId}`, max: maxDownloadBytes, what, amount });
    },
  };
}
