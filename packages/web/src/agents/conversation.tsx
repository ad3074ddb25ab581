// The conversation with an agent: each run as people read it, and the composer below.
import type { AgentDetails, RunWithPrompt } from "@agentcli/protocol/api";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { agentQuery } from "../api/queries.ts";
import { Button } from "../components/controls.tsx";
import { Icon } from "../components/icon.tsx";
import { Composer } from "./composer.tsx";
import { Run } from "./run.tsx";
import { useTail } from "./tail.ts";

/** Older runs are opened on request: each is a stream of its own. */
const openRuns = 3;

export function ConversationTab() {
  const { id } = useParams({ from: "/agents/$id" });
  const { data: agent } = useQuery(agentQuery(id));
  return agent && <Conversation agent={agent} />;
}

function Conversation({ agent }: { agent: AgentDetails }) {
  const [isWhole, setWhole] = useState(false);
  const tail = useTail();
  const runs: RunWithPrompt[] = [...agent.runs].reverse();
  const hidden = isWhole ? 0 : Math.max(0, runs.length - openRuns);
  return (
    <div className="conversation">
      {hidden > 0 && (
        <Button look="quiet" onClick={() => setWhole(true)}>
          Show {hidden} earlier {hidden === 1 ? "run" : "runs"}
        </Button>
      )}
      {runs.slice(hidden).map((run) => (
        <Run key={run.id} run={run} />
      ))}
      <div ref={tail.end} />
      {!tail.isAtEnd && (
        <button type="button" className="jump" onClick={tail.jump}>
          <Icon name="down" size={14} /> Jump to latest
        </button>
      )}
      <Composer agent={agent} />
    </div>
  );
}
