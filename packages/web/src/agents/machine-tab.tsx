// The machine of a running agent, for its owner: previews of its ports, and its terminals, live.
import type { AgentPorts, AgentTerminals } from "@agentcli/protocol/api";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { request } from "../api/request.ts";
import { Empty } from "../components/feedback.tsx";
import { Icon } from "../components/icon.tsx";
import { Loaded } from "../components/page.tsx";
import { Terminal } from "./terminal.tsx";

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
            {ports.length === 0 ? (
              <p className="soft">The environment of this agent names no port.</p>
            ) : (
              <ul className="rows">
                {ports.map(({ name, port, url }) => (
                  <li key={port} className="row">
                    <Icon name="link" />
                    <div className="row-main">
                      <a className="row-name" href={url} target="_blank" rel="noreferrer noopener">
                        {name}
                      </a>
                    </div>
                    <span className="row-end numeric">{port}</span>
                  </li>
                ))}
              </ul>
            )}
          </section>
          <section className="section">
            <h2>Terminals</h2>
            <Terminals agentId={id} terminals={terminals} />
          </section>
        </>
      )}
    </Loaded>
  );
}

interface TerminalsProps {
  agentId: string;
  terminals: AgentTerminals["items"];
}

/** One at a time: a browser has few connections to a server. */
function Terminals({ agentId, terminals }: TerminalsProps) {
  const [choice, setChoice] = useState<string | null>(null);
  const shown = terminals.find(({ name }) => name === choice) ?? terminals[0];
  if (!shown) return <Empty icon="terminal" title="No terminal is open" />;
  return (
    <>
      {terminals.length > 1 && (
        <fieldset className="segments terminal-choice">
          <legend className="sr-only">Terminal</legend>
          {terminals.map(({ name, isRunning }) => (
            <button
              key={name}
              type="button"
              className="segment"
              aria-pressed={name === shown.name}
              onClick={() => setChoice(name)}
            >
              {name}
              {!isRunning && " (ended)"}
            </button>
          ))}
        </fieldset>
      )}
      <Terminal
        key={shown.name}
        path={`${pathOf(agentId)}/terminals/${encodeURIComponent(shown.name)}`}
        name={shown.name}
      />
    </>
  );
}
