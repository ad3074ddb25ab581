// Ages as people write them: 30d, 12h, 45m, 2w.
import { CommandError } from "@agentcli/command-line";
import type { FlagName } from "../flags.ts";

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** `flag` is where it was given. */
export function ageMs(flag: FlagName, text: string): number {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(m|h|d|w)$/.exec(text) ?? [];
  if (amount !== undefined) return Number(amount) * unitMs[unit as keyof typeof unitMs];
  throw new CommandError("usage", `--${flag} ${text}: expected a number and m, h, d or w, for example 30d.`);
}
