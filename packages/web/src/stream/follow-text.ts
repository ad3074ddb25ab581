// Follows a text that grows, such as the log of a build: it resumes after any interruption where it was.
import { openEventParser } from "./sse.ts";

export interface FollowedText {
  text: string;
  connection: "connecting" | "live" | "reconnecting" | "ended";
}

export interface TextOptions {
  url: string;
  onChange(state: FollowedText): void;
  /** The text of an event; null at the end. */
  read(event: string, data: string, id: string | null): string | null;
}

const firstDelayMs = 500;
const maxDelayMs = 8_000;

export async function followText({ url, onChange, read }: TextOptions, signal: AbortSignal): Promise<void> {
  let [text, lastId, isEnded] = ["", null as string | null, false];
  for (let delayMs = firstDelayMs; !signal.aborted && !isEnded; delayMs = Math.min(delayMs * 2, maxDelayMs)) {
    try {
      const headers = { accept: "text/event-stream", ...(lastId !== null && { "last-event-id": lastId }) };
      const response = await fetch(url, { headers, signal });
      if (response.status >= 400 && response.status < 500 && response.status !== 429) break;
      const parse = openEventParser(({ id, event, data }) => {
        if (id !== null) lastId = id;
        const more = read(event, data, id);
        isEnded ||= more === null;
        text += more ?? "";
        delayMs = firstDelayMs;
        onChange({ text, connection: "live" });
      });
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) parse(part.value);
    } catch {
      // Network, sleep or restart of the server: the next attempt continues after the last event.
    }
    if (isEnded || signal.aborted) break;
    onChange({ text, connection: "reconnecting" });
    await new Promise((resolve) => setTimeout(resolve, delayMs));
  }
  if (!signal.aborted) onChange({ text, connection: "ended" });
}
