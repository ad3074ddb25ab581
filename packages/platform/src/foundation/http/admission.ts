// Admits requests, whichever way they come in: one count of requests, of wrong credentials and of what is under way.
import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { BlockList } from "node:net";
import type { Writable } from "node:stream";
import type { Context, MiddlewareHandler } from "hono";
import { type Principal, principalName } from "../principal.ts";
import { ApiError } from "./api-error.ts";
import { type ByteLimits, byteLimits, type Hold } from "./byte-limits.ts";
import { clientAddress } from "./client-address.ts";
import { type ConcurrencyLimit, concurrencyLimiter } from "./concurrency.ts";
import type { Env } from "./env.ts";
import { type RateLimit, type RateLimiter, rateLimiter } from "./rate-limit.ts";

/** 0: no limit. */
export interface AdmissionLimits {
  /** Per team; 0 turns off all rates, also those of addresses and single routes. */
  requestsPerMinute: number;
  requestsPerMinutePerAddress: number;
  /** Per address. */
  wrongCredentialsPerMinute: number;
  /** Per user or service account. */
  concurrentRequests: number;
  concurrentRequestsPerAddress: number;
  /** Per team. */
  gitProcesses: number;
  /** Proxies whose X-Forwarded-For is believed. */
  trustedProxies: BlockList;
}

export interface Admission extends ByteLimits {
  /** Counts the address of every request, before any other work. */
  middleware: MiddlewareHandler<Env>;
  /** Counts a request whose sender is known. Throws `rate_limited`. */
  admit(context: Context<Env>, principal: Principal, route?: RouteLimits): void;
  /** Counts a wrong secret that is neither a key nor a session, such as a used login link. Throws `rate_limited`. */
  noteWrongSecret(context: Context<Env>): void;
  /** As `admit`, of a request that a team answers for, such as an event of its source host. */
  admitSender(context: Context<Env>, sender: Sender): void;
  /**
   * Of a request that no route serves, such as one to a preview: counts its address and who sent it, until the response
   * or the connection ends, and a secret that is refused.
   */
  admitOutside<Result extends { sender: string }>(
    sent: OutsideRequest,
    authenticate: () => Promise<Result>,
  ): Promise<Result>;
  /** Counts a git process of the team until the response ends. Throws `rate_limited`. */
  admitGitProcess(context: Context<Env>, teamId: number): void;
}

export interface Sender {
  teamId: number;
  /** As that of a principal: `user:1`. */
  name: string;
}

export interface OutsideRequest {
  request: IncomingMessage;
  /** The response, or the connection of a WebSocket. */
  until: Pick<Writable, "once" | "destroyed">;
  /** A key, a cookie or a ticket; undefined: none. */
  secret: string | undefined;
}

/** Limits of one route, for each principal. */
export interface RouteLimits {
  name: string;
  limits: RateLimit[];
}

/** Probes of load balancers must not fail because others are busy. */
const uncounted = ["/healthz", "/readyz"];

/** Null for a request of a client. */
export type FindForwarded = (request: IncomingMessage) => { clientAddress: string } | null;

export function openAdmission(limits: AdmissionLimits, forwarded: FindForwarded = () => null): Admission {
  // Separate: requests from many addresses must not displace the counts of teams.
  const addresses = addressCounts(limits, rateLimiter(Date.now));
  const principals = rateLimiter(Date.now);
  const take = concurrencyLimiter();
  const hold: Hold = (context, limit) => {
    const release = take(limit);
    if (context.env.outgoing.closed) release();
    else context.get("slots").push(release);
  };
  const addressIn = addressFinder(limits, forwarded, addresses.spendWrong);
  const addressOf = (context: Context<Env>) => addressIn(context.env.incoming);
  const { perAddress, perSender } = limitsAtOnce(limits);
  const admitSender = (context: Context<Env>, { teamId, name }: Sender): void => {
    if (limits.requestsPerMinute > 0) principals.spend(`team:${teamId}`, perMinute(limits.requestsPerMinute));
    hold(context, perSender(name));
  };
  return {
    async middleware(context, next) {
      if (uncounted.includes(context.req.path)) return next();
      const address = addressOf(context);
      const credential = credentialOf(context);
      const attempt = addresses.admit(address, credential);
      context.set("isAttempt", attempt !== noAttempt);
      try {
        hold(context, perAddress(address));
        await next();
      } finally {
        attempt.release();
      }
      const isRefused = credential !== null && context.res.status === 401;
      if (isRefused || context.get("hasWrongSecret")) addresses.countWrong(address, credential);
      else if (credential !== null && context.get("principal")) addresses.noteAccepted(credential);
    },
    admit(context, principal, route) {
      context.set("principal", principal);
      const name = principalName(principal);
      admitSender(context, { teamId: principal.teamId, name });
      if (limits.requestsPerMinute === 0) return;
      for (const limit of route?.limits ?? []) principals.spend(`${name} ${route?.name} ${limit.seconds}`, limit);
    },
    admitSender,
    ...byteLimits(limits, hold, addressOf),
    noteWrongSecret(context) {
      // Its credential is counted for as long as the request lasts, and then again if it was wrong.
      if (context.get("isAttempt")) context.set("hasWrongSecret", true);
      else addresses.spendWrong(addressOf(context));
    },
    admitOutside: outsideAdmission({ limits, addresses, take, addressIn }),
    admitGitProcess: (context, teamId) =>
      hold(context, { key: `git ${teamId}`, max: limits.gitProcesses, what: "git processes of one team" }),
  };
}

/** A forwarded request was counted by another server, by the address that it came from there; a forged one is a wrong credential. */
const addressFinder =
  ({ trustedProxies }: AdmissionLimits, forwarded: FindForwarded, spendWrong: (address: string) => void) =>
  (request: IncomingMessage): string => {
    try {
      return forwarded(request)?.clientAddress ?? clientAddress(request, trustedProxies);
    } catch (error) {
      spendWrong(clientAddress(request, trustedProxies));
      throw error;
    }
  };

const limitsAtOnce = (limits: AdmissionLimits) => ({
  perAddress: (address: string): ConcurrencyLimit => ({
    key: `address ${address}`,
    max: limits.concurrentRequestsPerAddress,
    what: "requests from one address",
  }),
  perSender: (name: string): ConcurrencyLimit => ({
    key: name,
    max: limits.concurrentRequests,
    what: "requests of one user or service account",
  }),
});

interface Counts {
  limits: AdmissionLimits;
  addresses: ReturnType<typeof addressCounts>;
  take: ReturnType<typeof concurrencyLimiter>;
  addressIn(request: IncomingMessage): string;
}

function outsideAdmission({ limits, addresses, take, addressIn }: Counts): Admission["admitOutside"] {
  const { perAddress, perSender } = limitsAtOnce(limits);
  return async ({ request, until, secret }, authenticate) => {
    const address = addressIn(request);
    const credential = credentialIn(secret);
    const attempt = addresses.admit(address, credential);
    const hold = (limit: ConcurrencyLimit): void => {
      const release = take(limit);
      if (until.destroyed) release();
      else until.once("close", release);
    };
    try {
      hold(perAddress(address));
      const result = await authenticate();
      hold(perSender(result.sender));
      if (credential !== null) addresses.noteAccepted(credential);
      return result;
    } catch (error) {
      const isRefused = credential !== null && error instanceof ApiError && error.status === 401;
      if (isRefused) addresses.countWrong(address, credential);
      throw error;
    } finally {
      attempt.release();
    }
  };
}

const perMinute = (requests: number, what = "requests"): RateLimit => ({ requests, seconds: 60, what });

const maxAccepted = 10_000;

/** A credential that was not accepted before, until it is known whether it is wrong. */
interface Attempt {
  release(): void;
}

const noAttempt: Attempt = { release() {} };

/** After too many wrong credentials an address may use only those that were accepted before. */
function addressCounts(limits: AdmissionLimits, windows: RateLimiter) {
  // So that callers who share an address with an attacker can continue.
  const accepted = new Set<string>();
  const hasRates = limits.requestsPerMinute > 0;
  const requests = perMinute(limits.requestsPerMinutePerAddress, "requests from one address");
  const wrong = perMinute(limits.wrongCredentialsPerMinute, "wrong credentials from one address");
  const hasWrongLimit = hasRates && wrong.requests > 0;
  const spendWrong = (address: string): void => {
    if (hasWrongLimit) windows.spend(`wrong ${address}`, wrong);
  };
  return {
    admit(address: string, credential: string | null): Attempt {
      if (hasRates && requests.requests > 0) windows.spend(`requests ${address}`, requests);
      if (!hasWrongLimit || credential === null || accepted.has(credential)) return noAttempt;
      // Counted until its outcome is known: many at once must not pass before the first one is refused.
      spendWrong(address);
      return { release: () => windows.uncount(`wrong ${address}`) };
    },
    spendWrong,
    countWrong(address: string, credential: string | null): void {
      if (credential !== null) accepted.delete(credential);
      if (hasWrongLimit) windows.count(`wrong ${address}`, wrong);
    },
    noteAccepted(credential: string): void {
      if (accepted.has(credential)) return;
      for (const oldest of accepted) {
        if (accepted.size < maxAccepted) break;
        accepted.delete(oldest);
      }
      accepted.add(credential);
    },
  };
}

/** A hash of the key or the cookies that were sent; null without. */
const credentialOf = ({ req }: Context<Env>): string | null =>
  credentialIn(req.header("authorization") ?? req.header("cookie"));

const credentialIn = (sent: string | undefined): string | null =>
  sent === undefined ? null : createHash("sha256").update(sent).digest("base64");
