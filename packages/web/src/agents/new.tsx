// Starts an agent: prompt with files, repository, branch, model and mode. What is typed is kept until it was sent.
import type { CreateAgent } from "@agentcli/protocol/api";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type FormEvent, type KeyboardEvent, useEffect, useRef } from "react";
import { environmentsQuery, modelsQuery, repositoriesQuery } from "../api/queries.ts";
import { request } from "../api/request.ts";
import { useAction } from "../api/use-action.ts";
import { useTitle } from "../api/use-inbox.ts";
import { Button, Check, Field, Keys, Select } from "../components/controls.tsx";
import { Failure, Notice } from "../components/feedback.tsx";
import { EnvironmentSelect, RepositoryFields } from "../components/starting-point.tsx";
import { type Store, useStored } from "../components/stored.ts";
import { AttachmentList, useAttachments } from "./attachments.tsx";
import { Attempts } from "./attempts.tsx";
import { Estimate } from "./estimate.tsx";
import { addShared } from "./given.ts";
import { type Start, startOf, useNewAgentDefaults } from "./new-agent-defaults.ts";

interface Draft {
  prompt: string;
  /** Null until a person chose: then the settings say it. So are environment and branch. */
  repository: string | null;
  /** A name; it brings its own repositories. Empty: none. */
  environment: string | null;
  /** Of the environment, to start from; empty: its active one. */
  build: string;
  branch: string | null;
  model: string;
  effort: string;
  mode: "agent" | "plan";
  opensPullRequest: boolean;
  /** Models of further attempts, to compare; empty: the one that is chosen. */
  attempts: string[];
}

const emptyDraft: Draft = {
  ...{ prompt: "", repository: null, environment: null, build: "", branch: null, model: "", effort: "" },
  ...{ mode: "agent", opensPullRequest: true, attempts: [] },
};

/** The address fills in what was not typed. */
function useDraft(): [Draft, Store<Draft>] {
  const [stored, setDraft] = useStored<Draft>("draft:new", emptyDraft);
  const search = useSearch({ from: "/agents/new" });
  const navigate = useNavigate();
  const typed = { ...emptyDraft, ...stored };
  const { shared, ...given } = search;
  const filled = { ...typed, ...given, ...(typed.prompt !== "" && { prompt: typed.prompt }) };
  const draft = { ...filled, prompt: addShared(filled.prompt, shared) };
  useEffect(() => {
    if (Object.keys(search).length === 0) return;
    setDraft(draft);
    void navigate({ to: "/agents/new", replace: true });
  });
  return [draft, setDraft];
}

export function NewAgentPage() {
  const [draft, setDraft] = useDraft();
  const navigate = useNavigate();
  const key = useRef(crypto.randomUUID());
  const defaults = useNewAgentDefaults();
  const where = startOf(draft, defaults.start);
  const change = (next: Partial<Draft>) => {
    key.current = crypto.randomUUID();
    setDraft({ ...draft, ...next });
  };
  const attachments = useAttachments((text) => {
    key.current = crypto.randomUUID();
    setDraft((before) => ({ ...before, prompt: addShared(before.prompt, text) }));
  });
  const start = useAction(async (bodies: CreateAgent[]) => {
    const ids: string[] = [];
    // Tried again after a refusal, those that were created are found by their keys.
    for (const [index, body] of bodies.entries()) {
      const { agent } = await request<{ agent: { id: string } }>("/v1/agents", {
        ...{ method: "POST", body, idempotencyKey: `${key.current}-${index}` },
      });
      ids.push(agent.id);
    }
    setDraft({ ...draft, prompt: "", ...(draft.build !== "" && { environment: null, build: "" }), attempts: [] });
    if (ids.length > 1) await navigate({ to: "/compare", search: { agents: ids.join(",") } });
    else await navigate({ to: "/agents/$id", params: { id: ids[0] ?? "" } });
  });
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (draft.prompt.trim() !== "" && !start.isPending && !defaults.isPending)
      void start.run(bodiesOf({ ...draft, ...where }, attachments.images));
  };
  useTitle("New agent");
  return (
    <form className="page page-new" onSubmit={submit} {...attachments.handlers}>
      <header className="page-header">
        <h1>New agent</h1>
      </header>
      <PromptField draft={draft} onChange={change} onSubmit={submit} />
      <AttachmentList {...attachments} />
      <Options draft={{ ...draft, ...where }} defaultModel={defaults.model} onChange={change} />
      <Attempts attempts={draft.attempts} onChange={(attempts) => change({ attempts })} />
      <Estimate repository={where.repository} model={draft.model || defaults.model} count={draft.attempts.length + 1} />
      {start.error !== null && <Failure error={start.error} />}
      <div className="form-end">
        <Button
          look="primary"
          type="submit"
          isBusy={start.isPending}
          disabled={draft.prompt.trim() === "" || defaults.isPending}
        >
          {draft.attempts.length === 0 ? "Start agent" : `Start ${draft.attempts.length + 1} agents`}
        </Button>
        <span className="soft form-keys">
          <Keys>Ctrl Enter</Keys>
        </span>
      </div>
    </form>
  );
}

interface PartProps {
  draft: Draft;
  onChange(change: Partial<Draft>): void;
}

function PromptField({ draft, onChange, onSubmit }: PartProps & { onSubmit: () => void }) {
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) onSubmit();
  };
  return (
    <Field label="What should it do?">
      <textarea
        className="input prompt-input"
        rows={6}
        // biome-ignore lint/a11y/noAutofocus: the page is this field.
        autoFocus
        placeholder="Fix the failing test"
        value={draft.prompt}
        onChange={({ target }) => onChange({ prompt: target.value })}
        onKeyDown={onKeyDown}
      />
    </Field>
  );
}

/** With where the agent starts. */
type LocatedDraft = Draft & Start;

interface OptionsProps {
  draft: LocatedDraft;
  defaultModel: string;
  onChange(change: Partial<Draft>): void;
}

function Options({ draft, defaultModel, onChange }: OptionsProps) {
  const { data: offered } = useQuery(repositoriesQuery);
  return (
    <div className="options">
      {draft.build === "" ? (
        <StartFields draft={draft} onChange={onChange} />
      ) : (
        <Notice>
          <span className="notice-text">
            Starts from build <code>{draft.build}</code> of {draft.environment}, with its repositories.
          </span>
          <Button onClick={() => onChange({ environment: null, build: "" })}>Do not use it</Button>
        </Notice>
      )}
      <ModelFields draft={draft} defaultModel={defaultModel} onChange={onChange} />
      <Field label="Mode">
        <Select
          value={draft.mode}
          onChange={({ target }) => onChange({ mode: target.value === "plan" ? "plan" : "agent" })}
        >
          <option value="agent">Work</option>
          <option value="plan">Plan only</option>
        </Select>
      </Field>
      {(draft.repository !== "" || draft.environment !== "") && draft.attempts.length === 0 && (
        <Check
          label="Open a draft pull request"
          checked={draft.opensPullRequest}
          onChange={(opensPullRequest) => onChange({ opensPullRequest })}
        />
      )}
      {offered?.unavailable?.map(({ host, message }) => (
        <Notice key={host} tone="busy">
          {host}: {message}
        </Notice>
      ))}
    </div>
  );
}

function StartFields({ draft: { environment, repository, branch }, onChange }: PartProps & { draft: LocatedDraft }) {
  const { data } = useQuery(environmentsQuery);
  const hasAny = (data?.items.length ?? 0) > 0 || environment !== "";
  return (
    <>
      {hasAny && (
        <Field label="Environment" {...(environment !== "" && { hint: "It brings its repositories." })}>
          <EnvironmentSelect
            value={environment}
            none="None: a repository"
            onChange={(name) => onChange({ environment: name, ...(name === "" && { repository }) })}
          />
        </Field>
      )}
      {environment === "" && (
        <RepositoryFields
          {...{ repository, branch }}
          onChange={(change) => onChange({ environment: "", repository, ...change })}
        />
      )}
    </>
  );
}

function ModelFields({ draft, defaultModel, onChange }: OptionsProps) {
  const { data } = useQuery(modelsQuery);
  const models = data?.items ?? [];
  const chosen = models.find(({ id }) => id === (draft.model || defaultModel)) ?? models[0];
  const effort = chosen?.parameters?.find(({ id }) => id === "reasoning_effort");
  return (
    <>
      <Field label="Model" {...(chosen?.description !== undefined && { hint: chosen.description })}>
        <Select value={chosen?.id ?? ""} onChange={({ target }) => onChange({ model: target.value, effort: "" })}>
          {models.map(({ id, displayName }) => (
            <option key={id} value={id}>
              {displayName}
            </option>
          ))}
        </Select>
      </Field>
      {effort && (
        <Field label="Reasoning effort">
          <Select value={draft.effort} onChange={({ target }) => onChange({ effort: target.value })}>
            <option value="">Default</option>
            {effort.values.map(({ value, displayName }) => (
              <option key={value} value={value}>
                {displayName ?? value}
              </option>
            ))}
          </Select>
        </Field>
      )}
    </>
  );
}

type PromptImage = NonNullable<CreateAgent["prompt"]["images"]>[number];

/** Of several attempts, the pull request is opened from the best one. */
function bodiesOf(draft: LocatedDraft, images: PromptImage[]): CreateAgent[] {
  const { attempts } = draft;
  if (attempts.length === 0) return [bodyOf(draft, images)];
  const first = { ...draft, opensPullRequest: false };
  const others = attempts.map((model) => (model === "" ? first : { ...first, model, effort: "" }));
  return [first, ...others].map((attempt) => bodyOf(attempt, images));
}

function bodyOf(draft: LocatedDraft, images: PromptImage[]): CreateAgent {
  const { prompt, model, effort, mode } = draft;
  return {
    prompt: { text: prompt, ...(images.length > 0 && { images }) },
    mode,
    ...(model !== "" && {
      model: { id: model, ...(effort !== "" && { params: [{ id: "reasoning_effort", value: effort }] }) },
    }),
    ...locationOf(draft),
  };
}

function locationOf({ repository, environment, build, branch, opensPullRequest }: LocatedDraft): Partial<CreateAgent> {
  const autoCreatePR = opensPullRequest;
  if (environment !== "")
    return { env: { type: "cloud", name: environment, ...(build !== "" && { buildId: build }) }, autoCreatePR };
  if (repository.trim() === "") return {};
  const startingRef = branch.trim();
  return { repos: [{ url: repository.trim(), ...(startingRef !== "" && { startingRef }) }], autoCreatePR };
}
