// The question what the team may spend in a month. It has a suggestion and no default: no limit is an answer that is given too.
import type { TeamSettings, TeamSettingsChange } from "@agentcli/protocol/api";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { request } from "../api/request.ts";
import { useAction } from "../api/use-action.ts";
import { Button, Field } from "../components/controls.tsx";
import { Failure } from "../components/feedback.tsx";
import { teamSettingsQuery } from "./queries.ts";

const suggestedUsd = "100";

export function SpendLimitQuestion() {
  const queries = useQueryClient();
  const [usd, setUsd] = useState(suggestedUsd);
  const choose = useAction(async (monthlyUsd: number | null) => {
    const body: TeamSettingsChange = { spendLimit: { monthlyUsd } };
    const saved = await request<TeamSettings>("/v1/team/settings", { method: "PATCH", body });
    queries.setQueryData(teamSettingsQuery.queryKey, saved);
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void choose.run(Number(usd));
  };
  return (
    <form className="spend-limit" aria-label="Spend limit" onSubmit={submit}>
      <Field label="US dollars a month">
        <input
          className="input"
          type="number"
          min={0}
          step="any"
          required
          value={usd}
          onChange={({ target }) => setUsd(target.value)}
        />
      </Field>
      <Button type="submit" look="primary" isBusy={choose.isPending}>
        Set limit
      </Button>
      <Button disabled={choose.isPending} onClick={() => choose.run(null)}>
        No limit
      </Button>
      {choose.error !== null && <Failure error={choose.error} />}
    </form>
  );
}

export const aboutSpendLimit =
  "What all agents and model calls of the team may cost together. Once it is reached, runs end and new ones are refused until the next month. Models without a known price are refused under a limit.";

/** Null: no administrator has chosen yet. */
export const chosenLimit = ({ spendLimit }: TeamSettings): string | null => {
  if (spendLimit === null) return null;
  return spendLimit.monthlyUsd === null
    ? "The team may spend any amount."
    : `The team may spend $${spendLimit.monthlyUsd} a month.`;
};
