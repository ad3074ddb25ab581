// One frame of a run's stream, numbered, and as the bytes that readers get.
import type { FrameGroup } from "@agentcli/engine";

export interface Frame {
  /** Counts the frames of the run from 1. */
  seq: number;
  /** Where a reader goes on; shared by the frames of one group. */
  eventId: string;
  event: string;
  /** JSON text. */
  data: string;
}

/** Ids look like those of a log store, `<epoch ms>-<n>`; readers take them as they are. */
export function numberFrames(groups: FrameGroup[], { after, bornAt }: { after: number; bornAt: Date }): Frame[] {
  const frames: Frame[] = [];
  for (const group of groups) {
    const eventId = `${bornAt.getTime()}-${after + frames.length + 1}`;
    for (const { event, data } of group)
      frames.push({ seq: after + frames.length + 1, eventId, event, data: JSON.stringify(data) });
  }
  return frames;
}

/** LF only, one space behind each colon: readers split on exactly that. JSON text has no line breaks. */
export const encodeFrame = ({ eventId, event, data }: Omit<Frame, "seq">): string =>
  `id: ${eventId}\nevent: ${event}\ndata: ${data}\n\n`;

export const encodeWithoutId = (event: string, data: object): string =>
  `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

export const isLast = ({ event }: Pick<Frame, "event">): boolean => event === "done";
