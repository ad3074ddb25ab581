// Comments in a diff: below their lines, and all together at the end of the page, where they are sent.
import type { AgentDetails } from "@agentcli/protocol/api";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { request } from "../api/request.ts";
import { useAction } from "../api/use-action.ts";
import { ConfirmButton } from "../components/confirm.tsx";
import { Button } from "../components/controls.tsx";
import type { LineNotes } from "../components/diff.tsx";
import { Failure } from "../components/feedback.tsx";
import { LineEditor } from "../components/line-editor.tsx";
import { useStored } from "../components/stored.ts";
import { type Anchor, anchorOf, describeComments, isSameLine, type ReviewComment } from "./review.ts";

const none: ReviewComment[] = [];

export const useComments = (agentId: string) => useStored<ReviewComment[]>(`review:${agentId}`, none);

interface FileNotesOptions {
  agentId: string;
  repoUrl: string;
  path: string;
}

/** What a diff of this file shows below its lines. */
export function useFileNotes({ agentId, repoUrl, path }: FileNotesOptions): LineNotes {
  const [comments, setComments] = useComments(agentId);
  const [open, setOpen] = useState<Anchor | null>(null);
  const isHere = (one: ReviewComment) => one.repoUrl === repoUrl && one.path === path;
  return {
    takes: (line) => anchorOf(line) !== null,
    add: (line) => setOpen(anchorOf(line)),
    below(line) {
      const anchor = anchorOf(line);
      if (!anchor) return null;
      const own = comments.filter((one) => isHere(one) && isSameLine(one, anchor));
      const isOpen = open !== null && isSameLine(open, anchor);
      if (own.length === 0 && !isOpen) return null;
      const save = (text: string) => {
        setComments([...comments, { id: crypto.randomUUID(), repoUrl, path, ...anchor, text }]);
        setOpen(null);
      };
      return (
        <div className="line-notes">
          {own.map((one) => (
            <Comment
              key={one.id}
              comment={one}
              onRemove={() => setComments(comments.filter(({ id }) => id !== one.id))}
            />
          ))}
          {isOpen && <LineEditor line={anchor.line} onSave={save} onCancel={() => setOpen(null)} />}
        </div>
      );
    },
  };
}

const Comment = ({ comment: { text, line }, onRemove }: { comment: ReviewComment; onRemove: () => void }) => (
  <div className="line-note">
    <p className="line-note-text">{text}</p>
    <Button look="quiet" aria-label={`Remove the comment on line ${line}`} onClick={onRemove}>
      Remove
    </Button>
  </div>
);

/** All comments as one message to the agent. Those whose line is gone are named, and sent as well. */
export function ReviewBar({ agent, isShown }: { agent: AgentDetails; isShown: (comment: ReviewComment) => boolean }) {
  const [comments, setComments] = useComments(agent.id);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const send = useAction(async (text: string) => {
    await request(`/v1/agents/${agent.id}/runs`, { method: "POST", body: { prompt: { text } } });
    setComments([]);
    await queries.invalidateQueries({ queryKey: ["agent", agent.id] });
    await navigate({ to: "/agents/$id", params: { id: agent.id } });
  });
  if (comments.length === 0 || !agent.permissions.followUp) return null;
  const moved = comments.filter((comment) => !isShown(comment));
  const isRunning = agent.group === "running";
  return (
    <div className="review-bar" role="status">
      <span className="review-count">
        {comments.length} {comments.length === 1 ? "comment" : "comments"}
        {moved.length > 0 && <span className="soft">, {moved.length} on lines that have changed since</span>}
      </span>
      <ConfirmButton
        look="quiet"
        label="Discard"
        title={comments.length === 1 ? "Discard the comment?" : `Discard ${comments.length} comments?`}
        onConfirm={() => setComments([])}
      >
        <p>They were not sent, and are kept nowhere else.</p>
      </ConfirmButton>
      <Button
        look="primary"
        icon="send"
        isBusy={send.isPending}
        disabled={isRunning}
        title={isRunning ? "They can be sent when this run has ended" : undefined}
        onClick={() => send.run(describeComments(comments))}
      >
        {isRunning ? "Waits for the run" : "Send to the agent"}
      </Button>
      {send.error !== null && <Failure error={send.error} />}
    </div>
  );
}
