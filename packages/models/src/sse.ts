// Parses Server-Sent Events from bytes in any chunking, in linear time.
import { StringDecoder } from "node:string_decoder";

export interface SseParser {
  push(bytes: Buffer): void;
  /** End of the bytes: emits an event without its closing blank line; drops an incomplete line. */
  end(): void;
}

/** Takes events that begin at `start` without their being parsed, as many as it knows; returns where they end. */
export type Skim = (stream: string, start: number) => number;

/** `id` is empty if the event has none. */
export function openSse(onEvent: (data: string, name: string, id: string) => void, skim?: Skim): SseParser {
  let name = "";
  let id = "";
  let data: string | undefined;

  function takeLine(text: string, start: number, end: number): void {
    if (start === end) dispatch();
    else if (text.startsWith("data:", start)) {
      const value = valueAfter(text, start + 5, end);
      data = data === undefined ? value : `${data}\n${value}`;
    } else if (text.startsWith("event:", start)) name = valueAfter(text, start + 6, end);
    else if (text.startsWith("id:", start)) id = valueAfter(text, start + 3, end);
  }

  function dispatch(): void {
    const event = data;
    const eventName = name;
    const eventId = id;
    data = undefined;
    name = "";
    id = "";
    if (event) onEvent(event, eventName, eventId);
  }

  /** Only where an event begins. */
  const skip: Skim = (stream, start) =>
    skim && data === undefined && name === "" && id === "" ? skim(stream, start) : start;

  return { push: openLines(takeLine, skip), end: dispatch };
}

const space = 32;
const valueAfter = (text: string, colonEnd: number, end: number): string =>
  text.slice(text.charCodeAt(colonEnd) === space ? colonEnd + 1 : colonEnd, end);

const byteOrderMark = "\uFEFF";

/** A line is passed on as a range of a text: most lines are only compared, and need no string of their own. */
function openLines(onLine: (text: string, start: number, end: number) => void, skip: Skim): (bytes: Buffer) => void {
  const decoder = new StringDecoder("utf8");
  const unify = openLineEnds();
  let begun = false;
  // Appending does not copy: V8 links the pieces and flattens them once, when the line is complete.
  let unfinished = "";

  /** Returns where the next line begins; -1 if this one is not complete yet. */
  function finishLine(text: string): number {
    if (unfinished === "") return 0;
    const end = text.indexOf("\n");
    if (end < 0) return -1;
    const line = unfinished + text.slice(0, end);
    unfinished = "";
    onLine(line, 0, line.length);
    return end + 1;
  }

  return (bytes) => {
    let text = unify(decoder.write(bytes));
    if (text === "") return;
    if (!begun && text.startsWith(byteOrderMark)) text = text.slice(1);
    begun = true;
    let start = finishLine(text);
    while (start >= 0) {
      start = skip(text, start);
      const end = text.indexOf("\n", start);
      if (end < 0) break;
      onLine(text, start, end);
      start = end + 1;
    }
    unfinished += start > 0 ? text.slice(start) : text;
  };
}

/** Turns CR and CRLF into LF, also if a chunk ends between the two. */
function openLineEnds(): (text: string) => string {
  let afterReturn = false;
  return (text) => {
    if (text === "") return text;
    const rest = afterReturn && text.startsWith("\n") ? text.slice(1) : text;
    afterReturn = text.endsWith("\r");
    return rest.includes("\r") ? rest.replace(/\r\n?/g, "\n") : rest;
  };
}
