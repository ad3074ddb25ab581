// Durations on the command line: 45m, 12h, 30d.
const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Null where the text is not a duration. */
export function readDurationMs(text: string): number | null {
  const [, amount, unit] = /^(\d+)([mhd])$/.exec(text) ?? [];
  return amount ? Number(amount) * unitMs[unit as keyof typeof unitMs] : null;
}
