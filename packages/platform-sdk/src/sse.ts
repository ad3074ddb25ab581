// Server-Sent Events from bytes, as the standard has them: any line ending, data over several lines, comments.

export interface ServerEvent {
  /** Undefined where the event brought none of its own. */
  id: string | undefined;
  event: string;
  data: string;
}

/** More than any frame has; a peer that never ends a line must not fill the memory. */
const maxEventLength = 64 * 1024 * 1024;

/** An event counts once the empty line behind it has come: half of one is what a cut connection leaves. */
export async function* readEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  const reader = eventReader();
  for await (const chunk of chunks) yield* reader.push(chunk);
}

export interface EventReader {
  /** The events that are complete with this chunk. */
  push(chunk: Uint8Array): ServerEvent[];
}

export function eventReader(): EventReader {
  // Takes a byte order mark off the beginning, and keeps half a character for the next chunk.
  const decoder = new TextDecoder();
  const event = openEvent();
  let rest = "";
  let endedInReturn = false;
  return {
    push(chunk) {
      let text = decoder.decode(chunk, { stream: true });
      if (text === "") return [];
      // The second half of a line ending that two chunks share.
      if (endedInReturn && text.startsWith("\n")) text = text.slice(1);
      endedInReturn = text === "" ? false : text.endsWith("\r");
      const lines = text.split(/\r\n|\n|\r/);
      lines[0] = rest + (lines[0] ?? "");
      rest = lines.pop() ?? "";
      const events = lines.flatMap((line) => event.line(line));
      if (rest.length + event.size() > maxEventLength) throw new Error("An event of the stream is larger than 64 MiB.");
      return events;
    },
  };
}

interface OpenEvent {
  /** The event, when this line ends it. */
  line(line: string): ServerEvent[];
  size(): number;
}

function openEvent(): OpenEvent {
  let id: string | undefined;
  let name = "";
  let data: string[] = [];
  let size = 0;
  const dispatch = (): ServerEvent[] => {
    const ended = data.length > 0 ? [{ id, event: name === "" ? "message" : name, data: data.join("\n") }] : [];
    [id, name, data, size] = [undefined, "", [], 0];
    return ended;
  };
  return {
    size: () => size,
    line(line) {
      if (line === "") return dispatch();
      const colon = line.indexOf(":");
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
      if (field === "data") data.push(value);
      if (field === "event") name = value;
      if (field === "id" && !value.includes("\0")) id = value;
      size += line.length;
      return [];
    },
  };
}
