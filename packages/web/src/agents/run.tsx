// One run: the prompt, what the agent did, and how it ended.
import type { RunWithPrompt } from "@agentcli/protocol/api";
import { describeRunModel } from "@agentcli/protocol/outcomes";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { memo, useMemo, useSyncExternalStore } from "react";
import { Blocks } from "../components/blocks.tsx";
import { Notice, Skeleton } from "../components/feedback.tsx";
import { Icon } from "../components/icon.tsx";
import { Markdown } from "../components/markdown.tsx";
import { StatusIcon, wordOf } from "../components/status.tsx";
import { Elapsed, Moment } from "../components/time.tsx";
import { followRun } from "../stream/follow.ts";
import type { Connection, RunView } from "../stream/run-state.ts";
import type { Item } from "../stream/transcript.ts";
import { duration, money } from "../text/format.ts";
import { TranscriptItem } from "./item.tsx";
import { ShownRunContext } from "./shown-run.ts";

const isActive = ({ status }: RunWithPrompt): boolean => status === "RUNNING" || status === "CREATING";

const renderItem = (item: Item) => <TranscriptItem key={item.key} item={item} />;

export const Run = memo(({ run }: { run: RunWithPrompt }) => {
  const queries = useQueryClient();
  const { agentId, id } = run;
  const feed = useMemo(
    () =>
      followRun({
        url: `/v1/agents/${agentId}/runs/${id}/stream`,
        onEnd: () => void queries.invalidateQueries({ queryKey: ["agent", agentId] }),
      }),
    [agentId, id, queries],
  );
  const { transcript, connection } = useSyncExternalStore(feed.subscribe, feed.read);
  const isEmpty = transcript.items.length === 0;
  const result = resultBefore(run, { transcript, connection });
  const isRunActive = isActive(run);
  const shown = useMemo(
    () => ({ agentId, runId: id, isActive: isRunActive, render: renderItem }),
    [agentId, id, isRunActive],
  );
  return (
    <section className="run" id={id} aria-label={`Run ${id}`} data-connection={connection} data-status={run.status}>
      <div className="prompt">
        <p className="prompt-text">{run.prompt}</p>
      </div>
      <div className="items">
        <ShownRunContext value={shown}>
          <Blocks items={transcript.items} render={renderItem} />
        </ShownRunContext>
        {isEmpty && connection === "connecting" && result === null && <Skeleton lines={2} />}
        {result !== null && <Markdown text={result} />}
      </div>
      <ConnectionNotice connection={connection} />
      <RunEnd run={run} />
    </section>
  );
});

/** The result is known before the steps of a long run are read, which takes a moment; null once it is among them. */
function resultBefore({ result }: RunWithPrompt, { transcript, connection }: RunView): string | null {
  if (result === undefined || result === "" || transcript.isDone || connection === "ended") return null;
  return transcript.items.some((item) => item.kind === "text" && item.text.includes(result)) ? null : result;
}

const ConnectionNotice = ({ connection }: { connection: Connection }) => {
  if (connection === "reconnecting")
    return (
      <p className="reconnecting" role="status">
        <span className="spinner" aria-hidden="true" /> Reconnecting. Nothing is lost: the transcript goes on where it
        stopped.
      </p>
    );
  return connection === "expired" && <p className="run-note">The steps of this run are no longer kept.</p>;
};

function RunEnd({ run }: { run: RunWithPrompt }) {
  const { status, error, model, durationMs, cost, unsavedArtifacts = [], git, environment } = run;
  const heldBack = (git?.branches ?? []).flatMap(({ heldBack: files = [] }) => files);
  return (
    <footer className="run-end">
      {error && (
        <Notice tone="bad">
          <strong>{error.code ?? "Failed"}</strong> <span className="notice-text">{error.message}</span>
        </Notice>
      )}
      {unsavedArtifacts.length > 0 && (
        <Notice tone="busy">
          <strong>Files that were not kept</strong>
          <ul>
            {unsavedArtifacts.map(({ path, message }) => (
              <li key={path}>
                <code>{path}</code>: {message}
              </li>
            ))}
          </ul>
        </Notice>
      )}
      {heldBack.length > 0 && (
        <Notice tone="busy">
          Held back, because they look like secrets or leftovers: <HeldBack paths={heldBack.map(({ path }) => path)} />
        </Notice>
      )}
      {environment && <EnvironmentFacts environment={environment} />}
      <p className="run-facts">
        <span className={`run-outcome status-${status.toLowerCase()}`} data-outcome={status}>
          <StatusIcon status={status} size={14} />
          <span aria-hidden="true">{wordOf(status)}</span>
        </span>
        {isActive(run) ? (
          <Elapsed since={run.createdAt} />
        ) : (
          durationMs !== undefined && <span>{duration(durationMs)}</span>
        )}
        {cost && <span className="numeric">{money(cost.chargedCents)}</span>}
        {model && <span>{describeRunModel(model)}</span>}
        <Moment at={run.createdAt} />
        {!isActive(run) && (
          <Link
            className="fork-link"
            to="/agents/$id"
            params={{ id: run.agentId }}
            search={{ fork: run.id }}
            resetScroll={false}
          >
            <Icon name="branch" size={14} /> Fork from here
          </Link>
        )}
      </p>
    </footer>
  );
}

/** Which build, which commits, and why; what went wrong is always shown. */
const EnvironmentFacts = ({ environment }: { environment: NonNullable<RunWithPrompt["environment"]> }) => {
  const { name, buildId, reason, commits, warnings = [] } = environment;
  return (
    <>
      {warnings.map((warning) => (
        <Notice key={warning} tone="busy">
          <span className="notice-text">{warning}</span>
        </Notice>
      ))}
      {(name !== undefined || environment.source === "repository_file") && (
        <details className="run-note" data-environment={name}>
          <summary>
            Environment {name ?? "of the repository"}
            {buildId !== undefined && `, build ${buildId}`}
          </summary>
          <p>{reason}</p>
          <ul>
            {commits.map(({ repoUrl, commit }) => (
              <li key={repoUrl}>
                {repoUrl} at <code>{commit.slice(0, 12)}</code>
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
};

const HeldBack = ({ paths }: { paths: string[] }) =>
  paths.map((path) => (
    <code key={path} className="held-back">
      {path}
    </code>
  ));
