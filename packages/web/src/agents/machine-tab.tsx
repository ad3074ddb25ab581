// The machine of a running agent, for its owner: previews of its ports, and its terminals, live.
import type { AgentPorts, AgentTerminals, TerminalText } from "@agentcli/protocol/api";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { request } from "../api/request.ts";
import { useAction } from "../api/use-action.ts";
import { Button } from "../components/controls.tsx";
import { Empty, Failure } from "../components/feedback.tsx";
import { Icon } from "../components/icon.tsx";
import { Output } from "../components/output.tsx";
import { Loaded } from "../components/page.tsx";

const liveMs = 1_000;
const calmMs = 5_000;

const pathOf = (id: string): string => `/v1/agents/${encodeURIComponent(id)}`;

const machineQuery = (id: string) =>
  queryOptions({
    queryKey: ["agent", id, "machine"],
    queryFn: async ({ signal }) => {
      const [ports, terminals] = await Promise.all([
        request<AgentPorts>(`${pathOf(id)}/ports`, { signal }),
        request<AgentTerminals>(`${pathOf(id)}/terminals`, { signal }),
      ]);
      return { ports: ports.items, terminals: terminals.items };
    },
    refetchInterval: calmMs,
  });

export function MachineTab() {
  const { id } = useParams({ from: "/agents/$id" });
  const query = useQuery(machineQuery(id));
  return (
    <Loaded query={query}>
      {({ ports, terminals }) => (
        <>
          <section className="section">
            <h2>Previews</h2>
            {ports.length === 0 && <p className="soft">The environment of this agent names no port.</p>}
            <ul className="rows">
              {ports.map(({ name, port, url }) => (
                <li key={port} className="row">
                  <Icon name="link" />
                  <a className="row-name" href={url} target="_blank" rel="noreferrer noopener">
                    {name}
                  </a>
                  <span className="row-end numeric">{port}</span>
                </li>
              ))}
            </ul>
          </section>
          <section className="section">
            <h2>Terminals</h2>
            {terminals.length === 0 && <Empty icon="terminal" title="No terminal is open" />}
            {terminals.map((terminal) => (
              <Terminal key={terminal.name} agentId={id} {...terminal} />
            ))}
          </section>
        </>
      )}
    </Loaded>
  );
}

interface TerminalProps {
  agentId: string;
  name: string;
  isRunning: boolean;
}

function Terminal({ agentId, name, isRunning }: TerminalProps) {
  const path = `${pathOf(agentId)}/terminals/${encodeURIComponent(name)}`;
  const { data, error } = useQuery({
    queryKey: ["agent", agentId, "terminal", name],
    queryFn: ({ signal }) => request<TerminalText>(path, { signal }),
    refetchInterval: isRunning ? liveMs : calmMs,
  });
  const [line, setLine] = useState("");
  const type = useAction(async (text: string) => {
    await request(`${path}/input`, { method: "POST", body: { text } });
    setLine("");
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void type.run(`${line}\n`);
  };
  return (
    <section className="card terminal" aria-label={`Terminal ${name}`}>
      <h3>
        {name} {!isRunning && <span className="tag">ended</span>}
      </h3>
      {error && <Failure error={error} />}
      {data && <Output text={data.text} />}
      {isRunning && (
        <form className="terminal-input" onSubmit={submit}>
          <input
            className="input"
            aria-label={`Type into ${name}`}
            placeholder="Type a line; it is recorded in the audit log that you did"
            value={line}
            onChange={({ target }) => setLine(target.value)}
          />
          <Button type="submit" isBusy={type.isPending}>
            Enter
          </Button>
        </form>
      )}
      {type.error !== null && <Failure error={type.error} />}
    </section>
  );
}
