// One item of the inbox: what it is, what can be decided or marked, and a link to where it comes from.
import type { InboxItem, InboxKind, InboxState } from "@agentcli/protocol/api";
import { Link } from "@tanstack/react-router";
import { IconButton } from "../components/controls.tsx";
import { Icon, type IconName } from "../components/icon.tsx";
import { PullLink } from "../components/pull.tsx";
import { Moment } from "../components/time.tsx";
import { plainText, repositoryName } from "../text/format.ts";
import { type Decision, DecisionButtons } from "./decisions.tsx";

const kinds: Record<InboxKind, { icon: IconName; word: string; tone: string }> = {
  result: { icon: "check", word: "Result to review", tone: "good" },
  failed_run: { icon: "warning", word: "Run failed", tone: "bad" },
  automation: { icon: "clock", word: "Automation", tone: "busy" },
  approval: { icon: "decision", word: "Needs your approval", tone: "busy" },
};

interface InboxRowProps {
  item: InboxItem;
  isDeciding: boolean;
  onMark(item: InboxItem, state: InboxState): void;
  onDecide(decision: Decision): void;
}

export const InboxRow = ({ item, isDeciding, onMark, onDecide }: InboxRowProps) => {
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
        <span className={`row-facts ${item.kind === "approval" ? "is-wrapping" : ""}`}>
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
        {item.kind === "approval" && <DecisionButtons item={item} isBusy={isDeciding} onDecide={onDecide} />}
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

const ItemLink = ({ item }: { item: InboxItem }) => {
  const { id, title, agent, automationId, environmentId } = item;
  const look = { className: "row-name", "data-row": true } as const;
  if (agent)
    return (
      <Link {...look} to="/agents/$id" params={{ id: agent.id }}>
        {title}
      </Link>
    );
  if (environmentId !== undefined)
    return (
      <Link {...look} to="/environments/$id/builds/$build" params={{ id: environmentId, build: id }}>
        {title}
      </Link>
    );
  return (
    <Link {...look} to="/automations/$id" params={{ id: automationId ?? "" }}>
      {title}
    </Link>
  );
};
