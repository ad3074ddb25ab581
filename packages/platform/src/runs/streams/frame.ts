// Encodes one frame of a run's stream as sent to readers.
import type { Frame } from "@agentcli/surfaces/run-stream";

/** LF only, one space after each colon: clients split on exactly that. JSON text has no line breaks. */
export const encodeFrame = ({ eventId, event, data }: Omit<Frame, "seq">): string =>
  `id: ${eventId}\nevent: ${event}\ndata: ${data}\n\n`;

export const encodeWithoutId = (event: string, data: object): string =>
  `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

export const isLast = ({ event }: Pick<Frame, "event">): boolean => event === "done";
