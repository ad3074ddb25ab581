// The part of a conversation that a fork was copied with.
import type { AgentDetails, ConversationMessage } from "@agentcli/protocol/api";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { request } from "../api/request.ts";
import { Button } from "../components/controls.tsx";
import { Failure, Skeleton } from "../components/feedback.tsx";
import { Icon } from "../components/icon.tsx";
import { Markdown } from "../components/markdown.tsx";

export function Inherited({ agent: { forkedFrom, id, runs } }: { agent: AgentDetails }) {
  const [isOpen, setOpen] = useState(false);
  const { data, error, refetch } = useQuery({
    queryKey: ["conversation", id],
    queryFn: ({ signal }) => request<{ messages: ConversationMessage[] }>(`/v1/agents/${id}/conversation`, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
    enabled: isOpen,
  });
  if (!forkedFrom) return null;
  const messages = data?.messages.filter(({ runId }) => !runs.some((run) => run.id === runId));
  return (
    <section className="inherited" aria-label="Conversation before the fork">
      <p className="inherited-line">
        <Icon name="branch" size={14} />
        <span>
          Forked from{" "}
          <Link to="/agents/$id" params={{ id: forkedFrom.agentId }} hash={forkedFrom.runId}>
            another agent
          </Link>
          , whose conversation it knows.
        </span>
        <Button look="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? "Hide it" : "Show it"}
        </Button>
      </p>
      {isOpen && error !== null && <Failure error={error} retry={() => refetch()} />}
      {isOpen && error === null && !messages && <Skeleton lines={3} />}
      {isOpen && messages?.map((message) => <Message key={message.id} message={message} />)}
    </section>
  );
}

const Message = ({ message: { type, text } }: { message: ConversationMessage }) =>
  type === "user_message" ? (
    <div className="prompt">
      <p className="prompt-text">{text}</p>
    </div>
  ) : (
    <Markdown text={text} />
  );
