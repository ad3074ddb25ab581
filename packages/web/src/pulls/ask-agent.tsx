// The agent that opened the pull request, and one message to it with what people have said since its last run.
import type { AgentDetails, PullRequestDetails } from "@agentcli/protocol/api";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useAction } from "../agents/use-action.ts";
import { request } from "../api/request.ts";
import { Button } from "../components/controls.tsx";
import { Failure } from "../components/feedback.tsx";
import { Icon } from "../components/icon.tsx";
import { agentOfPullQuery } from "./queries.ts";
import { describeRemarks, type Remarks, remarksSince } from "./remarks.ts";

export function AskAgent({ details }: { details: PullRequestDetails }) {
  const { data: agent } = useQuery(agentOfPullQuery(details.url));
  if (!agent) return null;
  const remarks = remarksSince(details, agent.latestRun?.createdAt ?? agent.createdAt);
  return (
    <section className="card pull-agent" aria-label="Agent">
      <Icon name="agents" />
      <Link to="/agents/$id" params={{ id: agent.id }}>
        {agent.name ?? agent.id}
      </Link>
      <span className="soft">opened this</span>
      {agent.permissions.followUp && remarks.length > 0 && (
        <AskButton agent={agent} details={details} remarks={remarks} />
      )}
    </section>
  );
}

interface AskProps {
  agent: AgentDetails;
  details: PullRequestDetails;
  remarks: Remarks;
}

function AskButton({ agent, details, remarks }: AskProps) {
  const navigate = useNavigate();
  const isRunning = agent.group === "running";
  const ask = useAction(async (text: string) => {
    await request(`/v1/agents/${agent.id}/runs`, { method: "POST", body: { prompt: { text } } });
    await navigate({ to: "/agents/$id", params: { id: agent.id } });
  });
  const count = remarks.length === 1 ? "1 comment" : `${remarks.length} comments`;
  return (
    <>
      <Button
        icon="send"
        isBusy={ask.isPending}
        disabled={isRunning}
        title={isRunning ? "It can be asked when this run has ended" : undefined}
        onClick={() => ask.run(describeRemarks(details, remarks))}
      >
        {isRunning ? "Waits for the run" : `Ask it to address ${count}`}
      </Button>
      {ask.error !== null && <Failure error={ask.error} />}
    </>
  );
}
