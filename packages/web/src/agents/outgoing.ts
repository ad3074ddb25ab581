// Messages on their way to an agent: they wait in this browser for the end of the run, or were sent into it. None is lost on
// the way: one that a run ended without is sent as a follow-up.
import type { AgentDetails, RunMessage } from "@agentcli/protocol/api";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { request } from "../api/request.ts";
import { useAction } from "../api/use-action.ts";
import { useStored } from "../components/stored.ts";

export interface OutgoingMessage {
  text: string;
  /** Two tabs that send it create one run, and add it to a run once. */
  key: string;
  /** The message of a run that it has become; absent: it waits for the end of the run. */
  sentTo?: { runId: string; messageId: string };
}

export interface Outgoing {
  messages: OutgoingMessage[];
  /** Sends it when the run ends; at once where there is none. */
  queue(text: string): void;
  /** Sends it into the active run. */
  sendNow(message: OutgoingMessage): void;
  remove(message: OutgoingMessage): void;
  retry(): void;
  isBusy: boolean;
  error: unknown;
}

const liveMs = 1_500;

export const newMessage = (text: string): OutgoingMessage => ({ text, key: crypto.randomUUID() });

export function useOutgoing({ id, group, status, latestRun }: AgentDetails): Outgoing {
  const queries = useQueryClient();
  const [stored, store] = useStored<OutgoingMessage[] | OutgoingMessage | null>(`queued:${id}`, null);
  const messages = listOf(stored);
  const change = (to: (before: OutgoingMessage[]) => OutgoingMessage[]) =>
    store((before) => {
      const next = to(listOf(before));
      return next.length === 0 ? null : next;
    });
  const put = (message: OutgoingMessage) =>
    change((before) =>
      before.some(({ key }) => key === message.key)
        ? before.map((one) => (one.key === message.key ? message : one))
        : [...before, message],
    );
  const drop = (message: OutgoingMessage) => change((before) => before.filter(({ key }) => key !== message.key));

  const followUp = useAction(async (message: OutgoingMessage) => {
    const body = { prompt: { text: message.text } };
    await request(`/v1/agents/${id}/runs`, { method: "POST", body, idempotencyKey: message.key });
    drop(message);
    await queries.invalidateQueries({ queryKey: ["agent", id] });
  });
  const steer = useAction(async (message: OutgoingMessage) => {
    const runId = latestRun?.id ?? "";
    // It stays in the list: where it is refused, it is sent when the run ends.
    put(message);
    const sent = await request<RunMessage>(`/v1/agents/${id}/runs/${runId}/messages`, {
      ...{ method: "POST", body: { text: message.text }, idempotencyKey: message.key },
    });
    put({ ...message, sentTo: { runId, messageId: sent.id } });
  });
  useDeliveries({ agentId: id, messages, isActive: group === "running", change });

  const isIdle = group !== "running" && status === "IDLE";
  const next = messages.find(({ sentTo }) => sentTo === undefined);
  const isFree = isIdle && !followUp.isPending && !steer.isPending && followUp.error === null;
  const { run: send } = followUp;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says which message it is.
  useEffect(() => {
    if (isFree && next) void send(next);
  }, [isFree, next?.key]);
  return {
    messages,
    queue: (text) => put(newMessage(text)),
    sendNow: (message) => void steer.run(message),
    remove: drop,
    retry: () => next && void send(next),
    isBusy: followUp.isPending || steer.isPending,
    error: followUp.error ?? steer.error,
  };
}

/** Earlier versions kept one message. */
const listOf = (stored: OutgoingMessage[] | OutgoingMessage | null): OutgoingMessage[] =>
  Array.isArray(stored) ? stored : stored ? [stored] : [];

interface DeliveryOptions {
  agentId: string;
  messages: OutgoingMessage[];
  isActive: boolean;
  change(to: (before: OutgoingMessage[]) => OutgoingMessage[]): void;
}

/** Takes delivered messages off the list: they are in the transcript. Undelivered ones become follow-ups. */
function useDeliveries({ agentId, messages, isActive, change }: DeliveryOptions): void {
  const runId = messages.find(({ sentTo }) => sentTo !== undefined)?.sentTo?.runId;
  const { data } = useQuery({
    queryKey: ["run-messages", runId, isActive],
    queryFn: ({ signal }) =>
      request<{ items: RunMessage[] }>(`/v1/agents/${agentId}/runs/${runId}/messages`, { signal }),
    enabled: runId !== undefined,
    refetchInterval: liveMs,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is read is new each time.
  useEffect(() => {
    const statuses = new Map(data?.items.map((item) => [item.id, item.status]));
    const isOver = ({ sentTo }: OutgoingMessage) =>
      sentTo && (statuses.get(sentTo.messageId) ?? "pending") !== "pending";
    if (!messages.some(isOver)) return;
    change((before) =>
      before.flatMap((message) => {
        if (!isOver(message)) return [message];
        const { sentTo, ...unsent } = message;
        return statuses.get(sentTo?.messageId ?? "") === "delivered" ? [] : [unsent];
      }),
    );
  }, [data]);
}
