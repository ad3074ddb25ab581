// Where a person writes to an agent. While it works, a message waits for the end of the run, or is sent into it at once.
import type { AgentDetails } from "@agentcli/protocol/api";
import { type KeyboardEvent, useRef } from "react";
import { Button, IconButton, Keys } from "../components/controls.tsx";
import { Failure } from "../components/feedback.tsx";
import { useStored } from "../components/stored.ts";
import { newMessage, type Outgoing, type OutgoingMessage, useOutgoing } from "./outgoing.ts";

export function Composer({ agent }: { agent: AgentDetails }) {
  const { id, group, status, permissions } = agent;
  const [draft, setDraft] = useStored<string>(`draft:${id}`, "");
  const outgoing = useOutgoing(agent);
  const isRunning = group === "running";
  if (!permissions.followUp || status === "ARCHIVED") return null;

  const take = (send: (text: string) => void) => {
    const text = draft.trim();
    if (text === "") return;
    send(text);
    setDraft("");
  };
  return (
    <div className="composer">
      {outgoing.error !== null && (
        <Failure
          error={outgoing.error}
          {...(!isRunning && outgoing.messages.length > 0 && { retry: outgoing.retry })}
        />
      )}
      <Waiting outgoing={outgoing} isRunning={isRunning} edit={setDraft} />
      <MessageBox
        draft={draft}
        isBusy={outgoing.isBusy}
        isRunning={isRunning}
        onChange={setDraft}
        onQueue={() => take(outgoing.queue)}
        onSendNow={() => take((text) => outgoing.sendNow(newMessage(text)))}
      />
    </div>
  );
}

interface WaitingProps {
  outgoing: Outgoing;
  isRunning: boolean;
  edit(text: string): void;
}

function Waiting({ outgoing: { messages, sendNow, remove, isBusy, error }, isRunning, edit }: WaitingProps) {
  const shown = isRunning || error !== null ? messages : messages.slice(1);
  if (shown.length === 0) return null;
  return (
    <ul className="queue" aria-label="On the way">
      {shown.map((message) => (
        <li key={message.key} className="queued" data-sent={message.sentTo !== undefined}>
          {message.sentTo && <span className="spinner" aria-hidden="true" />}
          <span className="queued-text" title={message.text}>
            <strong>{stateOf(message, isRunning)}</strong> {message.text}
          </span>
          {!message.sentTo && isRunning && (
            <Button look="quiet" icon="send" disabled={isBusy} onClick={() => sendNow(message)}>
              Send now
            </Button>
          )}
          {!message.sentTo && (
            <IconButton
              icon="close"
              label="Take the message back"
              onClick={() => {
                edit(message.text);
                remove(message);
              }}
            />
          )}
        </li>
      ))}
    </ul>
  );
}

function stateOf({ sentTo }: OutgoingMessage, isRunning: boolean): string {
  if (sentTo) return "Reaches it at its next step:";
  return isRunning ? "Sent when this run ends:" : "Not sent:";
}

interface MessageBoxProps {
  draft: string;
  isBusy: boolean;
  isRunning: boolean;
  onChange(text: string): void;
  /** Also where there is no run to wait for. */
  onQueue(): void;
  onSendNow(): void;
}

function MessageBox({ draft, isBusy, isRunning, onChange, onQueue, onSendNow }: MessageBoxProps) {
  const box = useRef<HTMLTextAreaElement>(null);
  const isEmpty = draft.trim() === "";
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    if (isRunning && (event.ctrlKey || event.metaKey)) onSendNow();
    else onQueue();
  };
  return (
    <div className="message-box">
      <textarea
        ref={box}
        className="message-input"
        aria-label="Message"
        placeholder={isRunning ? "Write to it while it works" : "Send a follow-up"}
        rows={1}
        value={draft}
        onChange={({ target }) => onChange(target.value)}
        onKeyDown={onKeyDown}
      />
      {isRunning ? (
        <>
          <Button
            look="quiet"
            icon="send"
            disabled={isEmpty || isBusy}
            title="It gets the message at its next step (Ctrl Enter)"
            onClick={onSendNow}
          >
            Send now
          </Button>
          <Button
            look="primary"
            icon="clock"
            disabled={isEmpty}
            title="It gets the message when this run ends (Enter)"
            onClick={onQueue}
          >
            Queue
          </Button>
        </>
      ) : (
        <>
          <span className="message-keys">
            <Keys>Shift Enter</Keys> new line
          </span>
          <Button look="primary" icon="send" isBusy={isBusy} disabled={isEmpty} onClick={onQueue}>
            Send
          </Button>
        </>
      )}
    </div>
  );
}
