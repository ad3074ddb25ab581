// What similar agents have cost and how long they took: those of the same repository and model.
import type { AgentOverview } from "@agentcli/protocol/api";
import { useInfiniteQuery } from "@tanstack/react-query";
import { agentsQuery } from "../api/queries.ts";
import { duration, money, rangeOf } from "../text/format.ts";

export interface EstimateProps {
  repository: string;
  model: string;
  /** How many are to be started. */
  count: number;
}

export function Estimate({ repository, model, count }: EstimateProps) {
  const { data } = useInfiniteQuery(agentsQuery({ archived: true, sdk: false }));
  const similar = (data?.pages ?? []).flatMap(({ items }) => items).filter(isLike(repository, model));
  if (similar.length === 0) return null;
  const cents = similar.flatMap(({ cost }) => cost?.chargedCents ?? []).map((one) => one * count);
  const times = similar.flatMap(({ latestRun }) => latestRun?.durationMs ?? []);
  return (
    <p className="soft estimate">
      {count === 1 ? "Similar agents" : `${count} agents like those before`} cost {rangeOf(cents, money)}
      {times.length > 0 && `; their last runs took ${rangeOf(times, duration)}`} ({similar.length} compared).
    </p>
  );
}

const isLike =
  (repository: string, model: string) =>
  ({ repos = [], cost, latestRun }: AgentOverview): boolean =>
    cost !== undefined && (repos[0]?.url ?? "") === repository.trim() && latestRun?.model?.id === model;
