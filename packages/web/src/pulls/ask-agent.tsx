// The agent that opened the pull request, and one message to it with what people have said since its last run.
import type { AgentDetails, PullRequestDetails } from "@agentcli/protocol/api";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { request } from "../api/request.ts";
import { useAction } from "../api/use-action.ts";
import { Button } from "../components/controls.tsx";
import { Failure } from "../components/feedback.tsx";
import { Icon } from "../components/icon.tsx";
import { describeFeedback, type Feedback, feedbackSince } from "./feedback.ts";
import { agentOfPullQuery } from "./queries.ts";

export function AskAgent({ details }: { details: PullRequestDetails }) {
  const { data: agent } = useQuery(agentOfPullQuery(details.url));
  if (!agent) return null;
  const feedback = feedbackSince(details, agent.latestRun?.createdAt ?? agent.createdAt);
  return (
    <section className="card pull-agent" aria-label="Agent">
      <Icon name="agents" />
      <span className="pull-opener">
        <Link to="/agents/$id" params={{ id: agent.id }}>
          {agent.name ?? agent.id}
        </Link>{" "}
        <span className="soft">opened this</span>
      </span>
      {agent.permissions.followUp && feedback.length > 0 && (
        <AskButton agent={agent} details={details} feedback={feedback} />
      )}
    </section>
  );
}

interface AskProps {
  agent: AgentDetails;
  details: PullRequestDetails;
  feedback: Feedback;
}

function AskButton({ agent, details, feedback }: AskProps) {
  const navigate = useNavigate();
  const isRunning = agent.group === "running";
  const ask = useAction(async (text: string) => {
    await request(`/v1/agents/${agent.id}/runs`, { method: "POST", body: { prompt: { text } } });
    await navigate({ to: "/agents/$id", params: { id: agent.id } });
  });
  const count = feedback.length === 1 ? "1 comment" : `${feedback.length} comments`;
  return (
    <>
      <Button
        icon="send"
        isBusy={ask.isPending}
        disabled={isRunning}
        title={isRunning ? "It can be asked when this run has ended" : undefined}
        onClick={() => ask.run(describeFeedback(details, feedback))}
      >
        {isRunning ? "Waits for the run" : `Ask it to address ${count}`}
      </Button>
      {ask.error !== null && <Failure error={ask.error} />}
    </>
  );
}
