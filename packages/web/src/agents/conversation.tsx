// The conversation with an agent: each run as people read it, and the composer below.
import type { AgentDetails, RunWithPrompt } from "@agentcli/protocol/api";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams, useSearch } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { agentQuery } from "../api/queries.ts";
import { request } from "../api/request.ts";
import { useAction } from "../api/use-action.ts";
import { Button } from "../components/controls.tsx";
import { Failure } from "../components/feedback.tsx";
import { Icon } from "../components/icon.tsx";
import { Composer } from "./composer.tsx";
import { ForkDialog } from "./fork.tsx";
import { Inherited } from "./inherited.tsx";
import { Run } from "./run.tsx";
import { useTail } from "./tail.ts";

/** Older runs are opened on request: each is a stream of its own. */
const openRuns = 3;

export function ConversationTab() {
  const { id } = useParams({ from: "/agents/$id" });
  const { fork } = useSearch({ from: "/agents/$id/" });
  const { data: agent } = useQuery(agentQuery(id));
  return (
    agent && (
      <>
        <Conversation agent={agent} />
        {fork !== undefined && <ForkDialog key={fork} agent={agent} runId={fork} />}
      </>
    )
  );
}

function Conversation({ agent }: { agent: AgentDetails }) {
  const [isWhole, setWhole] = useState(false);
  const tail = useTail();
  const runs: RunWithPrompt[] = [...agent.runs].reverse();
  const hidden = isWhole ? 0 : Math.max(0, runs.length - openRuns);
  return (
    <div className="conversation">
      <h2 className="sr-only">Conversation</h2>
      {agent.forkedFrom && <Inherited agent={agent} />}
      {hidden > 0 && (
        <Button look="quiet" onClick={() => setWhole(true)}>
          Show {hidden} earlier {hidden === 1 ? "run" : "runs"}
        </Button>
      )}
      {runs.slice(hidden).map((run) => (
        <Run key={run.id} run={run} />
      ))}
      <Retry agent={agent} />
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

/** Sends the last message again, after a run that did not finish. */
function Retry({ agent: { id, status, permissions, runs } }: { agent: AgentDetails }) {
  const queries = useQueryClient();
  const key = useRef(crypto.randomUUID());
  const retry = useAction(async (text: string) => {
    await request(`/v1/agents/${id}/runs`, {
      ...{ method: "POST", body: { prompt: { text } }, idempotencyKey: key.current },
    });
    key.current = crypto.randomUUID();
    await queries.invalidateQueries({ queryKey: ["agent", id] });
  });
  const [last] = runs;
  const isUnfinished = last?.status === "ERROR" || last?.status === "EXPIRED" || last?.status === "CANCELLED";
  if (!last || !isUnfinished || !permissions.followUp || status !== "IDLE") return null;
  return (
    <div className="retry">
      {last.status === "CANCELLED" && (
        <p className="soft">It was stopped. What it has done stays: a message or Retry lets it go on.</p>
      )}
      <Button icon="retry" isBusy={retry.isPending} onClick={() => retry.run(last.prompt)}>
        Retry
      </Button>
      {retry.error !== null && <Failure error={retry.error} />}
    </div>
  );
}
