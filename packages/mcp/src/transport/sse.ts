// Parses server-sent events.
import { maxLineLength, readLines } from "./lines.ts";

export interface ServerEvent {
  /** For resuming the stream after this event. */
  id: string | undefined;
  type: string;
  data: string;
}

export interface EventStream {
  event(event: ServerEvent): void;
  /** How long to wait before reconnecting. */
  retry(ms: number): void;
  tooLong(): void;
}

export function readEvents(stream: EventStream): { add(text: string): void } {
  let id: string | undefined;
  let type = "";
  let data: string[] = [];
  let size = 0;

  function line(text: string): void {
    if (text === "") {
      dispatch();
      return;
    }
    size += text.length;
    if (size > maxLineLength) {
      stream.tooLong();
      return;
    }
    const colon = text.indexOf(":");
    const field = colon === -1 ? text : text.slice(0, colon);
    const value = colon === -1 ? "" : text.slice(colon + 1).replace(/^ /, "");
    if (field === "data") data.push(value);
    if (field === "event") type = value;
    if (field === "id" && !value.includes("\0")) id = value;
    if (field === "retry" && /^\d+$/.test(value)) stream.retry(Number(value));
  }

  function dispatch(): void {
    if (data.length > 0 || id !== undefined) stream.event({ id, type: type || "message", data: data.join("\n") });
    id = undefined;
    type = "";
    data = [];
    size = 0;
  }

  return readLines({ line, tooLong: stream.tooLong });
}
