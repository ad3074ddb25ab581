// The change to be judged, cut to what the model can hold.
import { fitChange, type ReviewAssignment } from "@agentcli/engine/review";
import type { Run } from "@agentcli/host";
import type { CollectedChange } from "./collect.ts";

/** Without a change the instructions define what to review. */
export function assign(change: CollectedChange | null, instructions: string, run: Run): ReviewAssignment {
  if (!change) return { target: { kind: "custom" }, instructions, change };
  const { target, root, command, files } = change;
  return { target, instructions, change: { root, command, ...fitChange(files, diffTokens(run)) } };
}

/** More of one file cannot be used. */
export const maxBytesOfFile = (run: Run): number => diffTokens(run) * 4;

const unknownWindowTokens = 100_000;

/** Half of what the thread may hold before it is summarised; the rest is for looking around and for thinking. */
const diffTokens = ({ settings }: Run): number => Math.floor((settings.compactAt ?? unknownWindowTokens) / 2);
