// Attempts at one prompt side by side. The one whose pull request is opened wins; the others are archived, or kept by choice.
import type { AgentDetails } from "@agentcli/protocol/api";
import { useQueries, useQueryClient } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { agentQuery } from "../api/queries.ts";
import { request } from "../api/request.ts";
import { useAction } from "../api/use-action.ts";
import { useTitle } from "../api/use-inbox.ts";
import { Button, Check } from "../components/controls.tsx";
import { Dialog } from "../components/dialog.tsx";
import { Empty, Failure } from "../components/feedback.tsx";
import { Attempt } from "./attempt.tsx";
import { idsOf } from "./filter.ts";

export function ComparePage() {
  const ids = idsOf(useSearch({ from: "/compare" }));
  const results = useQueries({ queries: ids.map(agentQuery) });
  const agents = results.flatMap(({ data }) => data ?? []);
  const [chosen, setChosen] = useState<string | null>(null);
  const winner = agents.find(({ id }) => id === chosen);
  const prompt = agents[0]?.runs.at(-1)?.prompt;
  useTitle("Compare");
  return (
    <div className="page page-compare">
      <header className="page-header">
        <h1>Compare</h1>
      </header>
      {prompt !== undefined && <p className="compare-prompt">{prompt}</p>}
      {ids.length === 0 && (
        <Empty icon="agents" title="Nothing to compare">
          <p>Start a new agent with more than one attempt.</p>
        </Empty>
      )}
      <div className="compare" data-count={ids.length}>
        {ids.map((id, index) => (
          <Attempt
            key={id}
            number={index + 1}
            id={id}
            query={{ data: results[index]?.data, error: results[index]?.error ?? null }}
            onChoose={() => setChosen(id)}
          />
        ))}
      </div>
      {winner && <Choose winner={winner} agents={agents} onClose={() => setChosen(null)} />}
    </div>
  );
}

interface ChooseProps {
  winner: AgentDetails;
  agents: AgentDetails[];
  onClose(): void;
}

function Choose({ winner, agents, onClose }: ChooseProps) {
  const queries = useQueryClient();
  const others = agents.filter(({ id, status }) => id !== winner.id && status !== "ARCHIVED");
  const mine = others.filter(({ permissions }) => permissions.manage);
  const [archives, setArchives] = useState(true);
  const choose = useAction(async () => {
    await request(`/v1/agents/${winner.id}/pull-requests`, { method: "POST" });
    // The others go only once there is a pull request to keep.
    if (archives) for (const { id } of mine) await request(`/v1/agents/${id}/archive`, { method: "POST" });
    await queries.invalidateQueries({ queryKey: ["agent"] });
    onClose();
  });
  return (
    <Dialog label="Open a pull request" className="confirm" onClose={onClose}>
      <h2>Open a pull request?</h2>
      <div className="confirm-text">
        <p>What {winner.name ?? winner.id} has pushed becomes a draft pull request.</p>
        {mine.length > 0 && (
          <Check
            label={`Archive the other ${mine.length === 1 ? "attempt" : `${mine.length} attempts`}`}
            checked={archives}
            onChange={setArchives}
          />
        )}
      </div>
      {choose.error !== null && <Failure error={choose.error} />}
      <div className="dialog-actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button look="primary" icon="pull" isBusy={choose.isPending} onClick={() => void choose.run(undefined)}>
          Open pull request
        </Button>
      </div>
    </Dialog>
  );
}
