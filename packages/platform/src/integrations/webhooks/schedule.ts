// The retry schedule of deliveries. Pure.

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Counted from the first attempt. */
export const attemptsAtMs = [0, 10 * second, minute, 10 * minute, hour, 6 * hour, 24 * hour];

/**
 * When to retry after the given attempt (from 1); null after the last. A late attempt, because no server was running,
 * delays the following ones: the intervals never get shorter.
 */
export function nextAttemptAt(startedAt: Date, attempt: number): Date | null {
  const [last, next] = [attemptsAtMs[attempt - 1], attemptsAtMs[attempt]];
  return last === undefined || next === undefined ? null : new Date(startedAt.getTime() + next - last);
}
