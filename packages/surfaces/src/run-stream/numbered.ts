// Frames of a run's stream in order, with the ids from which readers resume.
import type { FrameGroup } from "./frames.ts";

export interface Frame {
  /** Counts the frames of the run from 1. */
  seq: number;
  /** From which a reader resumes; shared by the frames of one group. */
  eventId: string;
  event: string;
  /** JSON text. */
  data: string;
}

/** Ids are `<epoch ms>-<n>`; readers treat them as opaque. */
export function numberFrames(groups: FrameGroup[], { after, bornAt }: { after: number; bornAt: Date }): Frame[] {
  const frames: Frame[] = [];
  for (const group of groups) {
    const eventId = `${bornAt.getTime()}-${after + frames.length + 1}`;
    for (const { event, data } of group)
      frames.push({ seq: after + frames.length + 1, eventId, event, data: JSON.stringify(data) });
  }
  return frames;
}

/** Repeats in more detail the frame before it: the update of a group, which has the number of its first frame in its id. */
export const isDetail = ({ seq, eventId, event }: Frame): boolean =>
  event === "interaction_update" && !eventId.endsWith(`-${seq}`);
