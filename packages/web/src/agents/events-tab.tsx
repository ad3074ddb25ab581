// The events of a run as its stream carries them: for people who write programs that read it.
import type { AgentDetails, RunWithPrompt } from "@agentcli/protocol/api";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { agentQuery } from "../api/queries.ts";
import { Blocks } from "../components/blocks.tsx";
import { Field, Select } from "../components/controls.tsx";
import { Empty, Notice, Skeleton } from "../components/feedback.tsx";
import { type ReceivedEvent, useEvents } from "../stream/use-events.ts";
import { type EventFilter, formatData, matchesType } from "./event-filter.ts";

export function EventsTab() {
  const { id } = useParams({ from: "/agents/$id" });
  const { run: chosen } = useSearch({ from: "/agents/$id/events" });
  const { data: agent } = useQuery(agentQuery(id));
  if (!agent) return <Skeleton lines={5} />;
  const run = agent.runs.find((one) => one.id === chosen) ?? agent.runs[0];
  return run ? <RunEvents key={run.id} agent={agent} run={run} /> : <Empty icon="list" title="No run yet" />;
}

function RunEvents({ agent, run }: { agent: AgentDetails; run: RunWithPrompt }) {
  const { type = "" } = useSearch({ from: "/agents/$id/events" });
  const { events, connection } = useEvents(`/v1/agents/${agent.id}/runs/${run.id}/stream`);
  const shown = events.filter((event) => matchesType(event, type));
  const types = [...new Set(events.map(({ event }) => event))].sort();
  return (
    <section aria-label="Events">
      <h2 className="sr-only">Events</h2>
      <Choice agent={agent} filter={{ run: run.id, type }} types={types} />
      <p className="soft" role="status">
        {shown.length} {shown.length === 1 ? "event" : "events"}
        {connection === "live" && ", live"}
        {connection === "reconnecting" && ", reconnecting"}
      </p>
      {events.length === 0 && connection === "connecting" && <Skeleton lines={3} />}
      {events.length === 0 && connection === "ended" && (
        <Notice>The events of this run are no longer kept. Its result is in the conversation.</Notice>
      )}
      <div key={type} className="events">
        <Blocks items={shown} render={renderEvent} />
      </div>
    </section>
  );
}

interface ChoiceProps {
  agent: AgentDetails;
  filter: Required<EventFilter>;
  types: string[];
}

function Choice({ agent: { id, runs }, filter, types }: ChoiceProps) {
  const navigate = useNavigate();
  const choose = (change: EventFilter) =>
    void navigate({
      to: "/agents/$id/events",
      params: { id },
      search: { run: filter.run, ...(filter.type !== "" && { type: filter.type }), ...change },
      replace: true,
    });
  const offered = filter.type === "" || types.includes(filter.type) ? types : [filter.type, ...types];
  return (
    <div className="event-choice">
      <Field label="Run">
        <Select value={filter.run} onChange={({ target }) => choose({ run: target.value })}>
          {runs.map((run, index) => (
            <option key={run.id} value={run.id}>
              {runs.length - index}: {run.prompt.slice(0, 60)}
            </option>
          ))}
        </Select>
      </Field>
      <Field label="Type">
        <Select value={filter.type} onChange={({ target }) => choose({ type: target.value || undefined })}>
          <option value="">All types</option>
          {offered.map((type) => (
            <option key={type} value={type}>
              {type}
            </option>
          ))}
        </Select>
      </Field>
    </div>
  );
}

const renderEvent = (event: ReceivedEvent) => (
  <details key={event.id} className="event" data-event={event.event}>
    <summary>
      <span className="event-name">{event.event}</span> <code className="event-data">{event.data.slice(0, 300)}</code>
    </summary>
    {event.id !== null && (
      <p className="soft">
        id: <code>{event.id}</code>
      </p>
    )}
    <pre className="event-whole">{formatData(event.data)}</pre>
  </details>
);
