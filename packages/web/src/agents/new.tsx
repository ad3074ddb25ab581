// Starts an agent: prompt with images, repository, branch, model and mode. What is typed is kept until it was sent.
import type { CreateAgent } from "@agentcli/protocol/api";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type FormEvent, type KeyboardEvent, useEffect, useRef } from "react";
import { modelsQuery, repositoriesQuery } from "../api/queries.ts";
import { request } from "../api/request.ts";
import { useAction } from "../api/use-action.ts";
import { useTitle } from "../api/use-inbox.ts";
import { Button, Check, Field, Keys, Select } from "../components/controls.tsx";
import { Failure, Notice } from "../components/feedback.tsx";
import { useStored } from "../components/stored.ts";
import { repositoryName } from "../text/format.ts";
import { Attempts } from "./attempts.tsx";
import { Estimate } from "./estimate.tsx";
import { addShared } from "./given.ts";
import { ImageList, useImages } from "./images.tsx";

interface Draft {
  prompt: string;
  /** Null until a person chose: then it is the first one that is offered. */
  repository: string | null;
  /** Of a build of an environment, which brings its own repositories; empty: none. */
  environment: string;
  build: string;
  branch: string;
  model: string;
  effort: string;
  mode: "agent" | "plan";
  opensPullRequest: boolean;
  /** Models of further attempts, to compare; empty: the one that is chosen. */
  attempts: string[];
}

const emptyDraft: Draft = {
  ...{ prompt: "", repository: null, environment: "", build: "", branch: "", model: "", effort: "" },
  ...{ mode: "agent", opensPullRequest: true, attempts: [] },
};

/** The address fills in what was not typed. */
function useDraft(): [Draft, (draft: Draft) => void] {
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
  const images = useImages();
  const navigate = useNavigate();
  const key = useRef(crypto.randomUUID());
  const { data: offered } = useQuery(repositoriesQuery);
  const { data: models } = useQuery(modelsQuery);
  const repository = draft.repository ?? offered?.items[0]?.url ?? "";
  const change = (next: Partial<Draft>) => {
    key.current = crypto.randomUUID();
    setDraft({ ...draft, ...next });
  };
  const start = useAction(async (bodies: CreateAgent[]) => {
    const ids: string[] = [];
    // Tried again after a refusal, those that were created are found by their keys.
    for (const [index, body] of bodies.entries()) {
      const { agent } = await request<{ agent: { id: string } }>("/v1/agents", {
        ...{ method: "POST", body, idempotencyKey: `${key.current}-${index}` },
      });
      ids.push(agent.id);
    }
    setDraft({ ...draft, prompt: "", environment: "", build: "", attempts: [] });
    if (ids.length > 1) await navigate({ to: "/compare", search: { agents: ids.join(",") } });
    else await navigate({ to: "/agents/$id", params: { id: ids[0] ?? "" } });
  });
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (draft.prompt.trim() !== "" && !start.isPending)
      void start.run(bodiesOf({ ...draft, repository }, images.images));
  };
  useTitle("New agent");
  return (
    <form className="page page-new" onSubmit={submit} onPaste={images.onPaste}>
      <header className="page-header">
        <h1>New agent</h1>
      </header>
      <PromptField draft={draft} onChange={change} onSubmit={submit} />
      <ImageList {...images} />
      <Options draft={{ ...draft, repository }} onChange={change} />
      <Attempts attempts={draft.attempts} onChange={(attempts) => change({ attempts })} />
      <Estimate
        repository={repository}
        model={draft.model || (models?.items[0]?.id ?? "")}
        count={draft.attempts.length + 1}
      />
      {start.error !== null && <Failure error={start.error} />}
      <div className="form-end">
        <Button look="primary" type="submit" isBusy={start.isPending} disabled={draft.prompt.trim() === ""}>
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
    <Field label="What should it do?" hint="Images can be pasted.">
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

function Options({ draft, onChange }: PartProps) {
  const { data: offered } = useQuery(repositoriesQuery);
  return (
    <div className="options">
      {draft.build === "" ? (
        <RepositoryFields draft={draft} onChange={onChange} />
      ) : (
        <Notice>
          <span className="notice-text">
            Starts from build <code>{draft.build}</code> of {draft.environment}, with its repositories.
          </span>
          <Button onClick={() => onChange({ environment: "", build: "" })}>Do not use it</Button>
        </Notice>
      )}
      <ModelFields draft={draft} onChange={onChange} />
      <Field label="Mode">
        <Select
          value={draft.mode}
          onChange={({ target }) => onChange({ mode: target.value === "plan" ? "plan" : "agent" })}
        >
          <option value="agent">Work</option>
          <option value="plan">Plan only</option>
        </Select>
      </Field>
      {(draft.repository !== "" || draft.build !== "") && draft.attempts.length === 0 && (
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

/** Where it works. */
function RepositoryFields({ draft, onChange }: PartProps) {
  const { data: offered } = useQuery(repositoriesQuery);
  return (
    <>
      <Field label="Repository" hint="Choose one, or give any git URL. Empty: none.">
        <input
          className="input"
          list="repositories"
          value={draft.repository ?? ""}
          placeholder="https://github.com/owner/name"
          onChange={({ target }) => onChange({ repository: target.value })}
        />
        <datalist id="repositories">
          {offered?.items.map(({ url }) => (
            <option key={url} value={url}>
              {repositoryName(url)}
            </option>
          ))}
        </datalist>
      </Field>
      <Field label="Branch" hint="Where it starts. Empty: the default branch.">
        <input
          className="input"
          value={draft.branch}
          placeholder="main"
          onChange={({ target }) => onChange({ branch: target.value })}
        />
      </Field>
    </>
  );
}

function ModelFields({ draft, onChange }: PartProps) {
  const { data } = useQuery(modelsQuery);
  const models = data?.items ?? [];
  const chosen = models.find(({ id }) => id === draft.model) ?? models[0];
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
function bodiesOf(draft: Draft & { repository: string }, images: PromptImage[]): CreateAgent[] {
  const { attempts } = draft;
  if (attempts.length === 0) return [bodyOf(draft, images)];
  const first = { ...draft, opensPullRequest: false };
  const others = attempts.map((model) => (model === "" ? first : { ...first, model, effort: "" }));
  return [first, ...others].map((attempt) => bodyOf(attempt, images));
}

function bodyOf(draft: Draft & { repository: string }, images: PromptImage[]): CreateAgent {
  const { prompt, repository, environment, build, branch, model, effort, mode, opensPullRequest } = draft;
  const startingRef = branch.trim();
  return {
    prompt: { text: prompt, ...(images.length > 0 && { images }) },
    mode,
    ...(model !== "" && {
      model: { id: model, ...(effort !== "" && { params: [{ id: "reasoning_effort", value: effort }] }) },
    }),
    ...(build !== "" && {
      env: { type: "cloud", name: environment, buildId: build } as const,
      autoCreatePR: opensPullRequest,
    }),
    ...(build === "" &&
      repository.trim() !== "" && {
        repos: [{ url: repository.trim(), ...(startingRef !== "" && { startingRef }) }],
        autoCreatePR: opensPullRequest,
      }),
  };
}
