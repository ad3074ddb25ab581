// The status line of a server's response, as it can be passed on. Pure.
import type { IncomingMessage } from "node:http";

export interface StatusLine {
  code: number;
  reason: string;
}

/** Null for a status that does not exist. Node reads status lines that it then refuses to write, by throwing. */
export function readStatusLine({
  statusCode = 0,
  statusMessage = "",
}: Pick<IncomingMessage, "statusCode" | "statusMessage">): StatusLine | null {
  if (statusCode < 100) return null;
  return { code: statusCode, reason: statusMessage.replace(/[^\t\x20-\x7e\x80-\xff]/g, "") };
}
