// A database that is away for a moment: what is safe to ask again is asked again.
import { setTimeout as pause } from "node:timers/promises";

const longestMs = 60_000;
const firstPauseMs = 50;
const longestPauseMs = 1_000;

/** The attempt is told whether one before it may have been carried out although nobody heard of it. */
export async function patiently<Result>(attempt: (before: "first" | "unheard") => Promise<Result>): Promise<Result> {
  const deadline = Date.now() + longestMs;
  for (let pauseMs = 0; ; pauseMs = Math.min(longestPauseMs, pauseMs * 2 || firstPauseMs)) {
    try {
      return await attempt(pauseMs === 0 ? "first" : "unheard");
    } catch (error) {
      if (!isDatabaseAway(error) || Date.now() > deadline) throw error;
      await pause(pauseMs || firstPauseMs);
    }
  }
}

/** For what only reads: once more where a connection had been cut and nobody had noticed yet. */
export async function onceMore<Result>(read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (!isDatabaseAway(error)) throw error;
    await pause(firstPauseMs);
    return read();
  }
}

/** Broken connections, servers that stop or start, and transactions that lost against another. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
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
