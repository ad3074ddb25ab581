// What needs a person: decisions, results to review, failed runs, alerts of automations.
import type { InboxItem, InboxState } from "@agentcli/protocol/api";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { isTyping, useListKeys } from "../agents/list-keys.ts";
import { closeOtherNotifications } from "../api/notifications.ts";
import { inboxQuery, useMarks, useTitle } from "../api/use-inbox.ts";
import { Button } from "../components/controls.tsx";
import { Empty, Failure, Notice, Skeleton } from "../components/feedback.tsx";
import { DecisionNotice, useDecisions } from "./decisions.tsx";
import { InboxRow } from "./row.tsx";

export function InboxPage() {
  useEffect(() => void closeOtherNotifications(), []);
  const { data, error, isPending, refetch } = useQuery(inboxQuery);
  const [onlyUnread, setOnlyUnread] = useState(false);
  const [done, setDone] = useState<InboxItem | null>(null);
  const marks = useMarks();
  const list = useRef<HTMLUListElement>(null);
  useTitle("Inbox");
  useListKeys(list);
  const decisions = useDecisions();
  const mark = (item: InboxItem, state: InboxState) => {
    decisions.reset();
    setDone(state === "done" ? item : null);
    marks.mutate({ items: [item.id], state });
  };
  const items = data?.items ?? [];
  useMarkKeys(items, mark);
  const shown = onlyUnread ? items.filter(({ isUnread }) => isUnread) : items;
  const unread = items.filter(({ isUnread }) => isUnread).map(({ id }) => id);
  return (
    <div className="page page-inbox">
      <Header
        unread={unread.length}
        onlyUnread={onlyUnread}
        onToggle={() => setOnlyUnread(!onlyUnread)}
        onRead={() => marks.mutate({ items: unread, state: "read" })}
      />
      {marks.error !== null && <Failure error={marks.error} />}
      <DecisionNotice decisions={decisions} />
      {done && (
        <Notice tone="good">
          <span className="notice-text">Done: {done.title}</span>
          <Button onClick={() => mark(done, "read")}>Undo</Button>
        </Notice>
      )}
      {isPending && <Skeleton lines={5} />}
      {error && <Failure error={error} retry={() => refetch()} />}
      {data && shown.length === 0 && <NothingLeft onlyUnread={onlyUnread} />}
      {shown.length > 0 && (
        <ul className="rows" ref={list}>
          {shown.map((item) => (
            <InboxRow
              key={item.id}
              item={item}
              isDeciding={decisions.isPending}
              onMark={mark}
              onDecide={(decision) => {
                setDone(null);
                decisions.mutate(decision);
              }}
            />
          ))}
        </ul>
      )}
    </div>
  );
}

interface HeaderProps {
  unread: number;
  onlyUnread: boolean;
  onToggle(): void;
  /** All of them. */
  onRead(): void;
}

const Header = ({ unread, onlyUnread, onToggle, onRead }: HeaderProps) => (
  <header className="page-header">
    <h1>Inbox</h1>
    <div className="page-actions">
      <button type="button" className="toggle" aria-pressed={onlyUnread} onClick={onToggle}>
        Unread {unread > 0 && <span className="count">{unread}</span>}
      </button>
      {unread > 0 && (
        <Button icon="check" onClick={onRead}>
          Mark all as read
        </Button>
      )}
    </div>
  </header>
);

const NothingLeft = ({ onlyUnread }: { onlyUnread: boolean }) => (
  <Empty icon="inbox" title={onlyUnread ? "Nothing is unread" : "Nothing needs you"}>
    <p>Decisions, results to review, failed runs and alerts of automations come here.</p>
  </Empty>
);

/** In the row that has the focus: u changes between read and unread, e is done. */
function useMarkKeys(items: InboxItem[], mark: (item: InboxItem, state: InboxState) => void): void {
  const latest = useRef({ items, mark });
  latest.current = { items, mark };
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const id = document.activeElement?.closest<HTMLElement>("[data-item]")?.dataset.item;
      const item = latest.current.items.find((one) => one.id === id);
      if (!item) return;
      if (event.key === "u") latest.current.mark(item, item.isUnread ? "read" : "unread");
      if (event.key === "e") latest.current.mark(item, "done");
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}
