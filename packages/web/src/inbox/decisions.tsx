// Decisions that are made in the inbox: whether a draft build becomes active, whether an automation may act.
import type { InboxItem } from "@agentcli/protocol/api";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { request } from "../api/request.ts";
import { ConfirmButton } from "../components/confirm.tsx";
import { Button } from "../components/controls.tsx";
import { Failure, Notice } from "../components/feedback.tsx";
import { discardWarning, pathOf } from "../environments/queries.ts";

export interface Decision {
  item: InboxItem;
  verb: "activate" | "discard" | "let act";
}

/** What the page says afterwards. */
const decidedWords: Record<Decision["verb"], string> = {
  activate: "Activated",
  discard: "Discarded",
  "let act": "Acts from now on",
};

/** The item leaves with the next answer of the server, also where another person was faster. */
export function useDecisions() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ item, verb }: Decision) =>
      verb === "let act"
        ? request(`/v1/automations/${encodeURIComponent(item.automationId ?? "")}`, {
            ...{ method: "PATCH", body: { shadow: false } },
          })
        : request(`${pathOf(item.environmentId ?? "")}/builds/${item.id}/${verb}`, {
            ...{ method: "POST", body: {} },
          }),
    onSettled: () =>
      Promise.all(
        ["inbox", "environments", "automations"].map((key) => queries.invalidateQueries({ queryKey: [key] })),
      ),
  });
}

/** The last one that was made here, or why it was refused. */
export function DecisionNotice({ decisions }: { decisions: ReturnType<typeof useDecisions> }) {
  const { error, variables, isSuccess } = decisions;
  if (error !== null) return <Failure error={error} />;
  if (!isSuccess || variables === undefined) return null;
  return (
    <Notice tone="good">
      <span className="notice-text">
        {decidedWords[variables.verb]}: {variables.item.title}
      </span>
    </Notice>
  );
}

interface DecisionButtonsProps {
  item: InboxItem;
  isBusy: boolean;
  onDecide(decision: Decision): void;
}

export const DecisionButtons = ({ item, isBusy, onDecide }: DecisionButtonsProps) => (
  <span className="inbox-decision">
    {item.environmentId === undefined ? (
      <ConfirmButton
        label="Let it act"
        title={`Let ${item.title} act?`}
        isBusy={isBusy}
        onConfirm={() => onDecide({ item, verb: "let act" })}
      >
        <p>
          Its next runs write what they only propose now: comments, reviews, memories, branches and pull requests. What
          was proposed so far is on the page of the automation, and stays there.
        </p>
      </ConfirmButton>
    ) : (
      <>
        <Button look="primary" isBusy={isBusy} onClick={() => onDecide({ item, verb: "activate" })}>
          Activate
        </Button>
        <ConfirmButton
          label="Discard"
          title="Discard this draft?"
          isBusy={isBusy}
          onConfirm={() => onDecide({ item, verb: "discard" })}
        >
          <p>{discardWarning}</p>
        </ConfirmButton>
      </>
    )}
  </span>
);
