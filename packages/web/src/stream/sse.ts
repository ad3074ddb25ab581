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
    const blocks = (rest + text).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const event = parse(block);
      if (event) onEvent(event);
    }
  };
}

function parse(block: string): ServerEvent | null {
  const event: ServerEvent = { id: null, event: "message", data: "" };
  for (const line of block.split("\n")) {
    const at = line.indexOf(": ");
    const [name, value] = [line.slice(0, at), line.slice(at + 2)];
    if (name === "id") event.id = value;
    if (name === "event") event.event = value;
    if (name === "data") event.data = event.data === "" ? value : `${event.data}\n${value}`;
  }
  return event.data === "" ? null : event;
}
