// Reads lists of agents again when the server says that they have changed. One stream for all tabs of the browser.
import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { followText } from "../stream/follow-text.ts";
import { canShare, share } from "../stream/share.ts";

type Message = "changed" | "heartbeat";

export function useAgentChanges(): void {
  const queries = useQueryClient();
  useEffect(() => {
    const page = new AbortController();
    void watch(queries, page.signal);
    return () => page.abort();
  }, [queries]);
}

async function watch(queries: QueryClient, signal: AbortSignal): Promise<void> {
  const apply = (message: Message) => {
    if (message === "changed") void queries.invalidateQueries({ queryKey: ["agents"] });
  };
  let hasFollowed = false;
  const lead = (publish: (message: Message) => void, turn: AbortSignal) => {
    const onEvent = (message: Message) => {
      apply(message);
      publish(message);
    };
    // What changed between two leaders is in neither of their streams.
    if (hasFollowed) onEvent("changed");
    hasFollowed = true;
    return readChanges(onEvent, turn);
  };
  if (!canShare()) return lead(() => {}, signal);
  const restore = () => {
    hasFollowed = true;
  };
  await share({ name: "agent-changes", lead, apply, restore, snapshot: () => null }, signal);
}

const readChanges = (onEvent: (message: Message) => void, signal: AbortSignal): Promise<void> =>
  followText(
    {
      url: "/v1/overview/agents",
      onChange: () => {},
      read(event) {
        if (event === "changed" || event === "heartbeat") onEvent(event);
        return "";
      },
    },
    signal,
  );
