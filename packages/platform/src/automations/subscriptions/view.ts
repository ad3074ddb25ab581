// Subscriptions as the API and the agent see them.
import type { Subscription } from "@agentcli/protocol/api";
import type { DataKey } from "../../foundation/index.ts";
import { openFilter, type StoredFilter, type SubscriptionRow } from "./store.ts";

export function subscriptionOf(key: DataKey, row: SubscriptionRow): Subscription {
  const filter = shownFilter(openFilter(key, row));
  return {
    id: row.id,
    agentId: row.agent_id,
    source: row.source,
    filter,
    status: row.status,
    ...(row.ended_reason !== null && { endedReason: row.ended_reason }),
    ...(row.skipped_at &&
      row.skipped_reason !== null && { lastSkipped: { at: row.skipped_at.toISOString(), reason: row.skipped_reason } }),
    ...(row.next_at && { nextAt: row.next_at.toISOString() }),
    createdBy: row.created_by,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
  };
}

function shownFilter({ headBranch: _, ...filter }: StoredFilter): Subscription["filter"] {
  if (filter.source !== "ci_fix") return filter;
  const { sinceRun: _since, turnedOn: _turnedOn, ...shown } = filter;
  return shown;
}
