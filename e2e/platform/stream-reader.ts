// Reads the stream of a run and reconnects with the last event id whenever the connection breaks.

import { setTimeout as pause } from "node:timers/promises";
import type { PlatformClient, RunIds, StreamFrame } from "@agentcli/testkit/platform";

/** Settles with every frame that has an id, up to the result of the run. */
export async function readWithReconnects(client: PlatformClient, ids: RunIds): Promise<StreamFrame[]> {
  const frames: StreamFrame[] = [];
  let lastEventId: string | undefined;
  for (;;) {
    for (const frame of await client.stream(ids, lastEventId).catch(() => [])) {
      // A simple frame is sent again where the connection broke before the update with its id.
      const isKnown = isSimple(frame) && frames.some(({ id, event }) => id === frame.id && event === frame.event);
      if (frame.id !== undefined && !isKnown) frames.push(frame);
      if (frame.id !== undefined && !isSimple(frame)) lastEventId = frame.id;
      if (frame.event === "done") return frames;
    }
    await pause(20);
  }
}

const isSimple = ({ event }: StreamFrame): boolean => ["assistant", "thinking", "tool_call"].includes(event);

/** What commands have printed, according to the deltas among these frames. */
export const outputIn = (frames: StreamFrame[]): string =>
  frames
    .flatMap(({ event, data }) =>
      event === "interaction_update" && data.type === "shell-output-delta"
        ? (data.event as { value: { data: string } }).value.data
        : [],
    )
    .join("");
