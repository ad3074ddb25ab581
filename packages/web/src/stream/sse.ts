// Reads Server-Sent Events from bytes as they arrive.
export interface ServerEvent {
  id: string | null;
  event: string;
  data: string;
}

/** Returns the function that takes the next piece of text. */
export function openEventParser(onEvent: (event: ServerEvent) => void): (text: string) => void {
  let rest = "";
  return (text) => {
    const all = rest + text;
    let start = 0;
    for (let end = all.indexOf("\n\n"); end >= 0; end = all.indexOf("\n\n", start)) {
      const event = parse(all, start, end);
      start = end + 2;
      if (event) onEvent(event);
    }
    rest = all.slice(start);
  };
}

/** In place, without a list of lines: a long run has tens of thousands of events. */
function parse(text: string, start: number, end: number): ServerEvent | null {
  const event: ServerEvent = { id: null, event: "message", data: "" };
  for (let at = start; at < end; ) {
    const next = text.indexOf("\n", at);
    const lineEnd = next < 0 || next > end ? end : next;
    if (text.startsWith("data: ", at)) {
      const value = text.slice(at + 6, lineEnd);
      event.data = event.data === "" ? value : `${event.data}\n${value}`;
    } else if (text.startsWith("id: ", at)) event.id = text.slice(at + 4, lineEnd);
    else if (text.startsWith("event: ", at)) event.event = text.slice(at + 7, lineEnd);
    at = lineEnd + 1;
  }
  return event.data === "" ? null : event;
}
