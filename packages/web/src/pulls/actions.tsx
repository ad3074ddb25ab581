// What can be done with a pull request as a whole.
import type { PullRequestDetails } from "@agentcli/protocol/api";
import { ConfirmButton } from "../components/confirm.tsx";
import { Button } from "../components/controls.tsx";
import { Failure } from "../components/feedback.tsx";
import type { PullName } from "./queries.ts";
import { usePullAction } from "./use-pull-action.ts";

export function PullActions({ pull, details }: { pull: PullName; details: PullRequestDetails }) {
  const { number, title, head, base, state, headCommit } = details;
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
        <ConfirmButton
          look="primary"
          icon="pull"
          label="Merge"
          title={`Merge #${number} into ${base}?`}
          refusal="Cancel"
          isBusy={isPending}
          onConfirm={() => run({ method: "POST", below: "/merge", body: { headCommit } })}
        >
          “{title}” of <code>{head}</code> becomes a merge commit on <code>{base}</code> of {pull.name}. It cannot be
          undone here.
        </ConfirmButton>
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
