// Retries while the database is briefly unavailable.
import { setTimeout as pause } from "node:timers/promises";
import { DatabaseTimeout } from "./request-timeout.ts";

const maxMs = 60_000;
const firstPauseMs = 50;
const maxPauseMs = 1_000;

/** `before` says whether an earlier attempt may have been committed without its answer arriving. */
export async function retryWhileAway<Result>(
  attempt: (before: "first" | "unheard") => Promise<Result>,
): Promise<Result> {
  const deadline = Date.now() + maxMs;
  for (let pauseMs = 0; ; pauseMs = Math.min(maxPauseMs, pauseMs * 2 || firstPauseMs)) {
    try {
      return await attempt(pauseMs === 0 ? "first" : "unheard");
    } catch (error) {
      if (!isDatabaseAway(error) || isTimeout(error) || Date.now() > deadline) throw error;
      await pause(pauseMs || firstPauseMs);
    }
  }
}

/** For reads: a second attempt when the connection turned out to be broken. */
export async function retryOnce<Result>(read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (!isDatabaseAway(error) || isTimeout(error)) throw error;
    await pause(firstPauseMs);
    return read();
  }
}

const queryCanceled = "57014";

/** The client of the request has waited long enough. */
const isTimeout = (error: unknown): boolean =>
  error instanceof DatabaseTimeout || (error as { code?: string }).code === queryCanceled;

/** Broken connections, servers that stop, start or hang, serialization failures and deadlocks. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (isTimeout(error)) return true;
  const { code = "", severity, syscall } = error as { code?: string; severity?: string; syscall?: string };
  if (severity !== undefined) return /^(?:08...|57P0[1-5]|53...|40001|40P01)$/.test(code);
  if (syscall !== undefined)
    return /^(?:ECONN(?:REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|ENOENT)$/.test(code) && isOfSocket(syscall);
  return /Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect/.test(
    error.message,
  );
}

const isOfSocket = (syscall: string): boolean => /^(?:connect|read|write)$/.test(syscall);

export const isUniqueViolation = (error: unknown): boolean => (error as { code?: string }).code === "23505";
