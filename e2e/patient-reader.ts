// Reads the stream of a run as a careful client does: whenever it breaks off, it goes on behind what it has.
import { setTimeout as pause } from "node:timers/promises";
import type { Client, Ids, SentFrame } from "../packages/platform/test/client.ts";

/** Settles with every frame that has an id, up to the result of the run. */
export async function readPatiently(client: Client, ids: Ids): Promise<SentFrame[]> {
  const frames: SentFrame[] = [];
  let lastEventId: string | undefined;
  for (;;) {
    for (const frame of await client.stream(ids, lastEventId).catch(() => [])) {
      // A simple frame comes again where the connection broke off before the update that has its id.
      const isKnown = isSimple(frame) && frames.some(({ id, event }) => id === frame.id && event === frame.event);
      if (frame.id !== undefined && !isKnown) frames.push(frame);
      if (frame.id !== undefined && !isSimple(frame)) lastEventId = frame.id;
      if (frame.event === "done") return frames;
    }
    await pause(20);
  }
}

const isSimple = ({ event }: SentFrame): boolean => ["assistant", "thinking", "tool_call"].includes(event);
