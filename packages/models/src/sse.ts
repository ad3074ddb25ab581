// Parses Server-Sent Events from bytes in any chunking, in linear time.
import { StringDecoder } from "node:string_decoder";

export interface SseParser {
  push(bytes: Buffer): void;
  /** End of the bytes: emits an event without its closing blank line; drops an incomplete line. */
  end(): void;
}

/** `id` is empty if the event has none. */
export function openSse(onEvent: (data: string, name: string, id: string) => void): SseParser {
  const lines = openLines(takeLine);
  let name = "";
  let id = "";
  let data: string | undefined;

  function takeLine(line: string): void {
    if (line === "") dispatch();
    else if (line.startsWith("data:"))
      data = data === undefined ? valueAfter(line, 5) : `${data}\n${valueAfter(line, 5)}`;
    else if (line.startsWith("event:")) name = valueAfter(line, 6);
    else if (line.startsWith("id:")) id = valueAfter(line, 3);
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

  return { push: lines, end: dispatch };
}

const space = 32;
const valueAfter = (line: string, colonEnd: number): string =>
  line.slice(line.charCodeAt(colonEnd) === space ? colonEnd + 1 : colonEnd);

const byteOrderMark = "\uFEFF";

function openLines(onLine: (line: string) => void): (bytes: Buffer) => void {
  const decoder = new StringDecoder("utf8");
  const unify = openLineEnds();
  let begun = false;
  // Appending does not copy: V8 links the pieces and flattens them once, when the line is complete.
  let unfinished = "";

  return (bytes) => {
    let text = unify(decoder.write(bytes));
    if (text === "") return;
    if (!begun && text.startsWith(byteOrderMark)) text = text.slice(1);
    begun = true;
    let start = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
      onLine(unfinished === "" ? text.slice(start, end) : unfinished + text.slice(start, end));
      unfinished = "";
      start = end + 1;
    }
    unfinished += start === 0 ? text : text.slice(start);
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
