// A sub-agent in the transcript of who began it: its task, how it ended, what it cost, and below what it did itself.
import type { RunSubagent, RunSubagentDetails, RunSubagentList } from "@agentcli/protocol/api";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { useContext, useMemo } from "react";
import { request } from "../api/request.ts";
import { Failure, Skeleton } from "../components/feedback.tsx";
import { Elapsed } from "../components/time.tsx";
import { applyFrame, type CallStatus, emptyTranscript, type Item } from "../stream/transcript.ts";
import { duration, money } from "../text/format.ts";
import { type ShownRun, ShownRunContext } from "./shown-run.ts";
import { Step } from "./step.tsx";

type Task = Extract<Item, { kind: "task" }>;

const liveMs = 2_000;

const pathOf = ({ agentId, runId }: ShownRun) => `/v1/agents/${agentId}/runs/${runId}/subagents`;

const listQuery = (shown: ShownRun) =>
  queryOptions({
    queryKey: ["subagents", shown.runId, shown.isActive],
    queryFn: ({ signal }) => request<RunSubagentList>(pathOf(shown), { signal }),
    refetchInterval: shown.isActive && liveMs,
  });

const detailsQuery = (shown: ShownRun, id: string) =>
  queryOptions({
    queryKey: ["subagent", shown.runId, id, shown.isActive],
    queryFn: ({ signal }) => request<RunSubagentDetails>(`${pathOf(shown)}/${encodeURIComponent(id)}`, { signal }),
    refetchInterval: ({ state }) => shown.isActive && state.data?.status !== "completed" && liveMs,
  });

export function Subagent({ item }: { item: Task }) {
  const shown = useContext(ShownRunContext);
  return shown === null || item.subagentId === "" ? (
    <TaskCall item={item} />
  ) : (
    <KnownSubagent item={item} shown={shown} />
  );
}

function KnownSubagent({ item, shown }: { item: Task; shown: ShownRun }) {
  const { data } = useQuery(listQuery(shown));
  const found = data?.items.find(({ id }) => id === item.subagentId);
  const title = (
    <>
      Sub-agent {found && <strong>{found.name}</strong>}: {item.description}
      {found && <Facts subagent={found} />}
    </>
  );
  return (
    <div className="subagent" data-subagent={found?.status}>
      <Step icon="people" title={title} status={found ? stepStatus[found.status] : item.status}>
        <Details id={item.subagentId} shown={shown} prompt={item.prompt} />
      </Step>
    </div>
  );
}

const stepStatus: Record<RunSubagent["status"], CallStatus> = {
  running: "running",
  completed: "completed",
  failed: "error",
  cancelled: "error",
};

const Facts = ({ subagent: { status, startedAt, durationMs, cost, model } }: { subagent: RunSubagent }) => (
  <span className="soft">
    {" · "}
    <span className={status === "failed" ? "bad" : ""}>{status}</span>
    {" · "}
    {durationMs === undefined ? <Elapsed since={startedAt} /> : duration(durationMs)}
    {cost && <> · {money(cost.chargedCents)}</>}
    {model && <> · {model.id}</>}
  </span>
);

interface DetailsProps {
  id: string;
  shown: ShownRun;
  prompt: string;
}

function Details({ id, shown, prompt }: DetailsProps) {
  const { data, error, refetch } = useQuery(detailsQuery(shown, id));
  const items = useMemo(() => {
    const transcript = emptyTranscript();
    for (const event of data?.events ?? []) applyFrame(transcript, event);
    return transcript.items;
  }, [data]);
  return (
    <div className="subagent-items">
      {prompt.includes("\n") && <p className="thinking">{prompt}</p>}
      {data ? (
        items.map(shown.render)
      ) : error ? (
        <Failure error={error} retry={() => refetch()} />
      ) : (
        <Skeleton lines={2} />
      )}
      {data && items.length === 0 && <p className="run-note">Nothing yet.</p>}
    </div>
  );
}

const titles = {
  start: "Started a sub-agent",
  wait: "Waited for sub-agents",
  write: "Wrote to a sub-agent",
  close: "Ended a sub-agent",
};

/** A call that concerns sub-agents; or one that has begun none yet, or could not. */
export const TaskCall = ({ item: { action, description, prompt, status, problem } }: { item: Task }) => (
  <Step icon="people" title={description === "" ? titles[action] : `Sub-agent: ${description}`} status={status}>
    {(problem ?? prompt) !== "" && <p className="thinking">{problem ?? prompt}</p>}
  </Step>
);
