// Forks an agent at one of its runs: says which files the fork starts with, and takes its first prompt.
import type { AgentDetails, ForkAgent, ForkPreview } from "@agentcli/protocol/api";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, type KeyboardEvent, useRef, useState } from "react";
import { modelsQuery } from "../api/queries.ts";
import { request } from "../api/request.ts";
import { useAction } from "../api/use-action.ts";
import { Button, Field, Keys, Select } from "../components/controls.tsx";
import { Dialog } from "../components/dialog.tsx";
import { Failure, Skeleton } from "../components/feedback.tsx";
import { useStored } from "../components/stored.ts";

export interface ForkDialogProps {
  agent: AgentDetails;
  runId: string;
}

export function ForkDialog({ agent: { id }, runId }: ForkDialogProps) {
  const navigate = useNavigate();
  const close = () => void navigate({ to: "/agents/$id", params: { id }, replace: true, resetScroll: false });
  const [prompt, setPrompt] = useStored<string>(`draft:fork:${runId}`, "");
  const [model, setModel] = useState("");
  const key = useRef(crypto.randomUUID());
  const start = useAction(async (body: ForkAgent) => {
    const path = `/v1/agents/${encodeURIComponent(id)}/fork`;
    const options = { method: "POST" as const, body, idempotencyKey: key.current };
    const { agent } = await request<{ agent: { id: string } }>(path, options);
    setPrompt("");
    await navigate({ to: "/agents/$id", params: { id: agent.id } });
  });
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (prompt.trim() === "" || start.isPending) return;
    void start.run({ prompt: { text: prompt }, runId, ...(model !== "" && { model: { id: model } }) });
  };
  // A request that is changed is another one.
  const changing =
    <Value,>(change: (value: Value) => void) =>
    (value: Value) => {
      key.current = crypto.randomUUID();
      change(value);
    };
  return (
    <Dialog label="Fork from here" className="fork" onClose={close}>
      <form onSubmit={submit}>
        <h2>Fork from here</h2>
        <Files agentId={id} runId={runId} />
        <ForkFields
          {...{ prompt, model }}
          onPrompt={changing(setPrompt)}
          onModel={changing(setModel)}
          onSubmit={submit}
        />
        {start.error !== null && <Failure error={start.error} />}
        <div className="dialog-actions">
          <Button onClick={close}>Cancel</Button>
          <Button look="primary" type="submit" isBusy={start.isPending} disabled={prompt.trim() === ""}>
            Start the fork <Keys>Ctrl Enter</Keys>
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function Files({ agentId, runId }: { agentId: string; runId: string }) {
  const { data, error } = useQuery({
    queryKey: ["fork", runId],
    queryFn: ({ signal }) =>
      request<ForkPreview>(`/v1/agents/${encodeURIComponent(agentId)}/fork?runId=${encodeURIComponent(runId)}`, {
        signal,
      }),
    retry: false,
  });
  if (error !== null) return <Failure error={error} />;
  if (!data) return <Skeleton lines={2} />;
  const { messages, files } = data;
  return (
    <p className="fork-files">
      A new agent that knows the conversation up to this point ({messages} {messages === 1 ? "message" : "messages"}).
      This one stays as it is. {files}
    </p>
  );
}

interface ForkFieldsProps {
  prompt: string;
  model: string;
  onPrompt(text: string): void;
  onModel(id: string): void;
  onSubmit(): void;
}

function ForkFields({ prompt, model, onPrompt, onModel, onSubmit }: ForkFieldsProps) {
  const { data } = useQuery(modelsQuery);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) onSubmit();
  };
  return (
    <>
      <Field label="What should it do instead?">
        <textarea
          className="input prompt-input"
          rows={4}
          // biome-ignore lint/a11y/noAutofocus: the window is this field.
          autoFocus
          placeholder="Try it another way"
          value={prompt}
          onChange={({ target }) => onPrompt(target.value)}
          onKeyDown={onKeyDown}
        />
      </Field>
      <Field label="Model">
        <Select value={model} onChange={({ target }) => onModel(target.value)}>
          <option value="">As before</option>
          {data?.items.map(({ id, displayName }) => (
            <option key={id} value={id}>
              {displayName}
            </option>
          ))}
        </Select>
      </Field>
    </>
  );
}
