// When a delivery is tried again. Pure.

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Counted from the first attempt. */
export const attemptsAtMs = [0, 10 * second, minute, 10 * minute, hour, 6 * hour, 24 * hour];

/**
 * Of the attempt after this one, which was the `made`th; null where that was the last. An attempt that came late, because
 * no server was there, moves those behind it: a receiver is never asked faster than planned.
 */
export function nextAttemptAt(startedAt: Date, made: number): Date | null {
  const [last, next] = [attemptsAtMs[made - 1], attemptsAtMs[made]];
  return last === undefined || next === undefined ? null : new Date(startedAt.getTime() + next - last);
}
