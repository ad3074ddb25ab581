// The inbox as pages use it: what is in it, how many are unread, and marks that show at once and are taken back if refused.
import type { ChangeInbox, Inbox } from "@agentcli/protocol/api";
import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { closeNotifications } from "./notifications.ts";
import { request, requestChanged, type TaggedAnswer } from "./request.ts";

const path = "/v1/me/inbox";

let latest: TaggedAnswer<Inbox> | undefined;

/** Asked for often, since the number of unread items is on every page; the server answers with content only when it changed. */
export const inboxQuery = queryOptions({
  queryKey: ["inbox"],
  async queryFn({ signal }) {
    latest = await requestChanged(path, latest, signal);
    return latest.answer;
  },
  refetchInterval: 5_000,
});

export function useMarks() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (change: ChangeInbox) => request(path, { method: "PATCH", body: change }),
    async onMutate(change) {
      await queries.cancelQueries({ queryKey: inboxQuery.queryKey });
      const before = queries.getQueryData(inboxQuery.queryKey);
      if (before) queries.setQueryData(inboxQuery.queryKey, applyMarks(before, change));
      return { before };
    },
    onError: (_error, _change, context) => queries.setQueryData(inboxQuery.queryKey, context?.before),
    onSettled: () => queries.invalidateQueries({ queryKey: inboxQuery.queryKey }),
  });
}

export function applyMarks({ items }: Inbox, { items: ids, state }: ChangeInbox): Inbox {
  const kept = state === "done" ? items.filter(({ id }) => !ids.includes(id)) : items;
  const next = kept.map((item) => (ids.includes(item.id) ? { ...item, isUnread: state === "unread" } : item));
  return { items: next, unread: next.filter(({ isUnread }) => isUnread).length };
}

/** The title of the window: how much is unread, then the page. An installed app shows the number on its icon. */
export function useTitle(name: string): void {
  const { data } = useQuery(inboxQuery);
  const unread = data?.unread ?? 0;
  useEffect(() => {
    document.title = `${unread > 0 ? `(${unread}) ` : ""}${name} · platform`;
    if ("setAppBadge" in navigator) void navigator.setAppBadge(unread).catch(() => {});
  }, [name, unread]);
}

/** Looking at an agent, or at a build, reads what the inbox says of it. */
export function useReadOnView(subject: string): void {
  const { data } = useQuery(inboxQuery);
  const { mutate } = useMarks();
  const found = data?.items.find((item) => item.isUnread && (item.agent?.id === subject || item.id === subject));
  const id = found?.id;
  useEffect(() => {
    if (id !== undefined && document.visibilityState === "visible") mutate({ items: [id], state: "read" });
  }, [id, mutate]);
  useEffect(() => void closeNotifications(subject), [subject]);
}
