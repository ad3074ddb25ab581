// What needs a person: results to review, failed runs, alerts of automations.
import type { InboxItem, InboxKind, InboxState } from "@agentcli/protocol/api";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { isTyping, useListKeys } from "../agents/list-keys.ts";
import { closeOtherNotifications } from "../api/notifications.ts";
import { inboxQuery, useMarks, useTitle } from "../api/use-inbox.ts";
import { Button, IconButton } from "../components/controls.tsx";
import { Empty, Failure, Notice, Skeleton } from "../components/feedback.tsx";
import { Icon, type IconName } from "../components/icon.tsx";
import { PullLink } from "../components/pull.tsx";
import { Moment } from "../components/time.tsx";
import { plainText, repositoryName } from "../text/format.ts";

export function InboxPage() {
  useEffect(() => void closeOtherNotifications(), []);
  const { data, error, isPending, refetch } = useQuery(inboxQuery);
  const [onlyUnread, setOnlyUnread] = useState(false);
  const [done, setDone] = useState<InboxItem | null>(null);
  const marks = useMarks();
  const list = useRef<HTMLUListElement>(null);
  useTitle("Inbox");
  useListKeys(list);
  const mark = (item: InboxItem, state: InboxState) => {
    setDone(state === "done" ? item : null);
    marks.mutate({ items: [item.id], state });
  };
  const items = data?.items ?? [];
  useMarkKeys(items, mark);
  const shown = onlyUnread ? items.filter(({ isUnread }) => isUnread) : items;
  const unread = items.filter(({ isUnread }) => isUnread).map(({ id }) => id);
  return (
    <div className="page page-inbox">
      <header className="page-header">
        <h1>Inbox</h1>
        <div className="page-actions">
          <button type="button" className="toggle" aria-pressed={onlyUnread} onClick={() => setOnlyUnread(!onlyUnread)}>
            Unread {unread.length > 0 && <span className="count">{unread.length}</span>}
          </button>
          {unread.length > 0 && (
            <Button icon="check" onClick={() => marks.mutate({ items: unread, state: "read" })}>
              Mark all as read
            </Button>
          )}
        </div>
      </header>
      {marks.error !== null && <Failure error={marks.error} />}
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
            <InboxRow key={item.id} item={item} onMark={mark} />
          ))}
        </ul>
      )}
    </div>
  );
}

const NothingLeft = ({ onlyUnread }: { onlyUnread: boolean }) => (
  <Empty icon="inbox" title={onlyUnread ? "Nothing is unread" : "Nothing needs you"}>
    <p>Results to review, failed runs and alerts of automations come here.</p>
  </Empty>
);

const kinds: Record<InboxKind, { icon: IconName; word: string; tone: string }> = {
  result: { icon: "check", word: "Result to review", tone: "good" },
  failed_run: { icon: "warning", word: "Run failed", tone: "bad" },
  automation: { icon: "clock", word: "Automation", tone: "busy" },
};

interface InboxRowProps {
  item: InboxItem;
  onMark(item: InboxItem, state: InboxState): void;
}

const InboxRow = ({ item, onMark }: InboxRowProps) => {
  const { icon, word, tone } = kinds[item.kind];
  const { isUnread, agent } = item;
  return (
    <li className={`row inbox-row ${isUnread ? "is-unread" : ""}`} data-item={item.id} data-unread={isUnread}>
      <span className="unread-dot">{isUnread && <span className="sr-only">Unread</span>}</span>
      <span className={`inbox-icon tone-${tone}`}>
        <Icon name={icon} />
      </span>
      <div className="row-main">
        <ItemLink item={item} />
        <span className="row-facts inbox-facts">
          <span className={`inbox-word tone-${tone}`}>{word}</span>
          {agent?.repos?.map(({ url }) => (
            <span key={url} className="fact" title={url}>
              <Icon name="repository" size={14} />
              {repositoryName(url)}
            </span>
          ))}
          <span className="inbox-message">{plainText(item.message)}</span>
        </span>
      </div>
      <div className="row-end">
        {agent?.pullRequests.map((pull) => (
          <PullLink key={pull.url} pull={pull} />
        ))}
        <span className="row-time">
          <Moment at={item.at} />
        </span>
        <span className="row-buttons">
          <IconButton
            icon={isUnread ? "read" : "unread"}
            label={isUnread ? "Mark as read" : "Mark as unread"}
            onClick={() => onMark(item, isUnread ? "read" : "unread")}
          />
          <IconButton icon="archive" label="Done" onClick={() => onMark(item, "done")} />
        </span>
      </div>
    </li>
  );
};

const ItemLink = ({ item: { title, agent, automationId } }: { item: InboxItem }) =>
  agent ? (
    <Link className="row-name" to="/agents/$id" params={{ id: agent.id }} data-row>
      {title}
    </Link>
  ) : (
    <Link className="row-name" to="/automations/$id" params={{ id: automationId ?? "" }} data-row>
      {title}
    </Link>
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
