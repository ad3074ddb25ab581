// The events of a stream in the order in which they arrive, resumed after any interruption.
import { useEffect, useState } from "react";
import { type FollowedText, followText } from "./follow-text.ts";

export interface ReceivedEvent {
  id: string | null;
  event: string;
  data: string;
}

export interface FollowedEvents {
  events: ReceivedEvent[];
  connection: FollowedText["connection"];
}

/** Readers are notified at most this often, however many events arrive. */
const notifyMs = 100;

export function useEvents(url: string): FollowedEvents {
  const [state, setState] = useState<FollowedEvents>({ events: [], connection: "connecting" });
  useEffect(() => {
    const page = new AbortController();
    const next: FollowedEvents = { events: [], connection: "connecting" };
    let timer: ReturnType<typeof setTimeout> | undefined;
    const publish = () => {
      timer = undefined;
      setState({ ...next, events: [...next.events] });
    };
    const onChange = ({ connection }: FollowedText) => {
      next.connection = connection;
      timer ??= setTimeout(publish, notifyMs);
    };
    const read = (event: string, data: string, id: string | null) => {
      // They have no meaning but that the connection is alive.
      if (event !== "heartbeat") next.events.push({ id, event, data });
      return event === "done" || event === "error" ? null : "";
    };
    void followText({ url, onChange, read }, page.signal);
    return () => {
      page.abort();
      clearTimeout(timer);
    };
  }, [url]);
  return state;
}
