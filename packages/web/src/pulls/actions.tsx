// What can be done with a pull request as a whole.
import type { PullRequestDetails } from "@agentcli/protocol/api";
import { Button } from "../components/controls.tsx";
import { Failure } from "../components/feedback.tsx";
import type { PullName } from "./queries.ts";
import { usePullAction } from "./use-pull-action.ts";

export function PullActions({ pull, details: { state, headCommit } }: { pull: PullName; details: PullRequestDetails }) {
  const { run, isPending, error } = usePullAction(pull);
  const change = (body: { draft?: boolean; state?: "open" | "closed" }) => run({ method: "PATCH", below: "", body });
  return (
    <div className="agent-actions">
      {(state === "open" || state === "draft") && (
        <Button look="quiet" isBusy={isPending} onClick={() => change({ state: "closed" })}>
          Close
        </Button>
      )}
      {state === "draft" && (
        <Button look="primary" isBusy={isPending} onClick={() => change({ draft: false })}>
          Ready for review
        </Button>
      )}
      {state === "open" && (
        <Button
          look="primary"
          icon="pull"
          isBusy={isPending}
          onClick={() => run({ method: "POST", below: "/merge", body: { headCommit } })}
        >
          Merge
        </Button>
      )}
      {state === "closed" && (
        <Button isBusy={isPending} onClick={() => change({ state: "open" })}>
          Reopen
        </Button>
      )}
      {error !== null && <Failure error={error} />}
    </div>
  );
}
