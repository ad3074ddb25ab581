// One attempt: how far it is, what it cost and changed, and its result.
import type { AgentDetails, AgentDiff, RunWithPrompt } from "@agentcli/protocol/api";
import { describeRunModel } from "@agentcli/protocol/outcomes";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo, useSyncExternalStore } from "react";
import { request } from "../api/request.ts";
import { useAction } from "../api/use-action.ts";
import { Button } from "../components/controls.tsx";
import { Failure, Skeleton } from "../components/feedback.tsx";
import { LineCount } from "../components/line-count.tsx";
import { Markdown } from "../components/markdown.tsx";
import { PullLink } from "../components/pull.tsx";
import { StatusBadge } from "../components/status.tsx";
import { StopButton } from "../components/stop.tsx";
import { Elapsed } from "../components/time.tsx";
import { followRun } from "../stream/follow.ts";
import type { Item } from "../stream/transcript.ts";
import { duration, money } from "../text/format.ts";
import { readPatch } from "../text/patch.ts";

export interface AttemptProps {
  number: number;
  id: string;
  query: { data: AgentDetails | undefined; error: unknown };
  onChoose(): void;
}

export function Attempt({ number, id, query: { data: agent, error }, onChoose }: AttemptProps) {
  const run = agent?.runs[0];
  return (
    <section
      className="attempt"
      aria-label={`Attempt ${number}`}
      data-status={run?.status}
      data-chosen={agent !== undefined && agent.pullRequests.length > 0}
    >
      {!agent && (error ? <Failure error={error} /> : <Skeleton lines={4} />)}
      {agent && run && (
        <>
          <header className="attempt-header">
            <h2>
              <Link to="/agents/$id" params={{ id }}>
                {number}. {run.model ? describeRunModel(run.model) : "Attempt"}
              </Link>
            </h2>
            {agent.status === "ARCHIVED" ? <span className="soft">Archived</span> : <StatusBadge status={run.status} />}
          </header>
          <Facts agent={agent} run={run} />
          {agent.group === "running" ? <Progress run={run} /> : <Result run={run} />}
          <Actions agent={agent} run={run} onChoose={onChoose} />
        </>
      )}
    </section>
  );
}

const Facts = ({ agent, run }: { agent: AgentDetails; run: RunWithPrompt }) => (
  <dl className="attempt-facts">
    <div>
      <dt>Time</dt>
      <dd>{run.durationMs === undefined ? <Elapsed since={run.createdAt} /> : duration(run.durationMs)}</dd>
    </div>
    <div>
      <dt>Cost</dt>
      <dd>{(agent.cost ?? run.cost) ? money((agent.cost ?? run.cost)?.chargedCents ?? 0) : "–"}</dd>
    </div>
    <div>
      <dt>Changes</dt>
      <dd>
        <Changes agent={agent} />
      </dd>
    </div>
  </dl>
);

const changesMs = 5_000;

function Changes({ agent: { id, group, latestRun, repos } }: { agent: AgentDetails }) {
  const isRunning = group === "running";
  const { data } = useQuery({
    queryKey: ["diff", id, latestRun?.status],
    queryFn: ({ signal }) => request<AgentDiff>(`/v1/agents/${encodeURIComponent(id)}/diff`, { signal }),
    enabled: repos !== undefined,
    refetchInterval: isRunning && changesMs,
  });
  const files = useMemo(
    () => (data?.items ?? []).flatMap(({ encoding, patch }) => (encoding === "utf-8" ? readPatch(patch) : [])),
    [data],
  );
  if (!data || files.length === 0) return data || repos === undefined ? "none" : "…";
  const sum = (of: "added" | "removed") => files.reduce((total, file) => total + file[of], 0);
  return (
    <Link to="/agents/$id/changes" params={{ id }}>
      {files.length} {files.length === 1 ? "file" : "files"} <LineCount added={sum("added")} removed={sum("removed")} />
    </Link>
  );
}

/** The last thing it does, live. */
function Progress({ run: { agentId, id } }: { run: RunWithPrompt }) {
  const queries = useQueryClient();
  const feed = useMemo(
    () =>
      followRun({
        url: `/v1/agents/${agentId}/runs/${id}/stream`,
        onEnd: () => void queries.invalidateQueries({ queryKey: ["agent", agentId] }),
      }),
    [agentId, id, queries],
  );
  const { transcript } = useSyncExternalStore(feed.subscribe, feed.read);
  const last = transcript.items.at(-1);
  return (
    <p className="attempt-progress" role="status">
      {last ? describe(last) : "Starting"}
    </p>
  );
}

function describe(item: Item): string {
  switch (item.kind) {
    case "command":
      return `${item.status === "running" ? "Running" : "Ran"} ${item.command}`;
    case "edit":
      return `Edited ${item.path}`;
    case "plan":
      return `Plan: ${item.todos.filter(({ status }) => status === "completed").length} of ${item.todos.length} done`;
    case "task":
      return `Sub-agent: ${item.description}`;
    case "tool":
      return `${item.name} ${item.subject}`;
    case "hook":
      return `Hook ${item.event}`;
    case "text":
    case "user":
    case "thinking":
    case "note":
    case "warning":
    case "blocked":
    case "server":
      return item.text.slice(-300);
  }
}

const Result = ({ run: { result, error } }: { run: RunWithPrompt }) => (
  <div className="attempt-result">
    {error && <p className="bad">{error.message}</p>}
    {result !== undefined && <Markdown text={result} />}
  </div>
);

interface ActionsProps {
  agent: AgentDetails;
  run: RunWithPrompt;
  onChoose(): void;
}

function Actions({ agent: { id, group, status, branch, pullRequests, permissions }, run, onChoose }: ActionsProps) {
  const queries = useQueryClient();
  const act = useAction(async (path: string) => {
    await request(`/v1/agents/${id}/${path}`, { method: "POST" });
    await queries.invalidateQueries({ queryKey: ["agent", id] });
  });
  const isOver = group !== "running";
  return (
    <footer className="attempt-actions">
      {act.error !== null && <Failure error={act.error} />}
      {pullRequests.map((pull) => (
        <PullLink key={pull.url} pull={pull} />
      ))}
      {isOver && branch !== undefined && pullRequests.length === 0 && permissions.manage && status !== "ARCHIVED" && (
        <Button icon="pull" aria-haspopup="dialog" onClick={onChoose}>
          Open pull request
        </Button>
      )}
      {!isOver && permissions.cancel && (
        <StopButton
          permissions={permissions}
          isBusy={act.isPending}
          onStop={() => void act.run(`runs/${run.id}/cancel`)}
        />
      )}
      {isOver && permissions.manage && (
        <Button
          icon="archive"
          isBusy={act.isPending}
          onClick={() => void act.run(status === "ARCHIVED" ? "unarchive" : "archive")}
        >
          {status === "ARCHIVED" ? "Unarchive" : "Archive"}
        </Button>
      )}
    </footer>
  );
}
