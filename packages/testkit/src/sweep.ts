// Sweeps: every case with SWEEP=full, otherwise a sample that differs each day. SWEEP_SEED repeats that of another day.

export const isFullSweep = process.env.SWEEP === "full";

export const sweepSeed = Number(process.env.SWEEP_SEED ?? Math.floor(Date.now() / 86_400_000));

export interface SampleOptions<Case> {
  /** One case of so many: each has its turn within as many days. */
  every: number;
  /** Tables with the same cases and different shifts have different samples. */
  shift?: number;
  /** Cases that are in each sample. */
  isNeeded?: (one: Case) => boolean;
}

export function sampleOf<Case>(cases: readonly Case[], { every, shift = 0, isNeeded }: SampleOptions<Case>): Case[] {
  if (isFullSweep) return [...cases];
  const stride = Math.max(1, Math.min(every, cases.length));
  const turn = (sweepSeed + shift) % stride;
  return cases.filter((one, index) => index % stride === turn || isNeeded?.(one));
}
