// Where a person writes to an agent. A message to a running agent waits in this browser until the run has ended.
import type { AgentDetails } from "@agentcli/protocol/api";
import { useQueryClient } from "@tanstack/react-query";
import { type KeyboardEvent, useEffect, useRef } from "react";
import { request } from "../api/request.ts";
import { Button, IconButton, Keys } from "../components/controls.tsx";
import { Failure } from "../components/feedback.tsx";
import { useStored } from "../components/stored.ts";
import { useAction } from "./use-action.ts";

interface QueuedMessage {
  text: string;
  /** Two tabs that send it create one run. */
  key: string;
}

export function Composer({ agent: { id, group, status, permissions } }: { agent: AgentDetails }) {
  const queries = useQueryClient();
  const [draft, setDraft] = useStored<string>(`draft:${id}`, "");
  const [queued, setQueued] = useStored<QueuedMessage | null>(`queued:${id}`, null);
  const isRunning = group === "running";
  const send = useAction(async (message: QueuedMessage) => {
    const body = { prompt: { text: message.text } };
    await request(`/v1/agents/${id}/runs`, { method: "POST", body, idempotencyKey: message.key });
    setQueued(null);
    await queries.invalidateQueries({ queryKey: ["agent", id] });
  });
  const isIdle = !isRunning && status === "IDLE";
  const sendQueued = send.run;
  useEffect(() => {
    if (isIdle && queued && !send.isPending && send.error === null) void sendQueued(queued);
  }, [isIdle, queued, send.isPending, send.error, sendQueued]);
  if (!permissions.followUp || status === "ARCHIVED") return null;

  const submit = () => {
    const text = draft.trim();
    if (text === "") return;
    setQueued({ text, key: crypto.randomUUID() });
    setDraft("");
  };
  return (
    <div className="composer">
      {send.error !== null && <Failure error={send.error} {...(queued && { retry: () => void send.run(queued) })} />}
      {queued && (isRunning || send.error !== null) && (
        <div className="queued">
          <span className="queued-text">
            <strong>{isRunning ? "Sent when this run ends:" : "Not sent:"}</strong> {queued.text}
          </span>
          <IconButton
            icon="close"
            label="Take the message back"
            onClick={() => {
              setDraft(queued.text);
              setQueued(null);
            }}
          />
        </div>
      )}
      <MessageBox
        draft={draft}
        isBusy={send.isPending}
        placeholder={isRunning ? "Write the next message; it is sent when this run ends" : "Send a follow-up"}
        onChange={setDraft}
        onSubmit={submit}
      />
    </div>
  );
}

interface MessageBoxProps {
  draft: string;
  isBusy: boolean;
  placeholder: string;
  onChange(text: string): void;
  onSubmit(): void;
}

function MessageBox({ draft, isBusy, placeholder, onChange, onSubmit }: MessageBoxProps) {
  const box = useRef<HTMLTextAreaElement>(null);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    onSubmit();
  };
  return (
    <div className="message-box">
      <textarea
        ref={box}
        className="message-input"
        aria-label="Message"
        placeholder={placeholder}
        rows={1}
        value={draft}
        onChange={({ target }) => onChange(target.value)}
        onKeyDown={onKeyDown}
      />
      <span className="message-keys">
        <Keys>Shift Enter</Keys> new line
      </span>
      <Button look="primary" icon="send" isBusy={isBusy} disabled={draft.trim() === ""} onClick={onSubmit}>
        Send
      </Button>
    </div>
  );
}
