// Back-tests in the database: requested by people, worked off by a server with the role scheduler, read while they run.
import { randomUUID } from "node:crypto";
import type { Backtest } from "@agentcli/protocol/api";
import type { Selectable } from "kysely";
import {
  ApiError,
  type AutomationBacktestTable,
  type DataKey,
  type PlatformContext,
  type Queries,
  teamKey,
} from "../../foundation/index.ts";
import type { FiringRow } from "../firings/store.ts";
import { listProposals } from "../proposals/store.ts";
import type { AutomationRow } from "../store.ts";

export type BacktestRow = Selectable<AutomationBacktestTable>;

/** An event, and the firing that it would have been. */
export interface ReplayedEvent extends Pick<Backtest["items"][number], "event" | "receivedAt" | "outcome"> {
  repository?: string;
  reason?: string;
  firingId?: string;
}

const itemsAad = (id: string): string => `backtest:${id}`;

export const sealItems = (key: DataKey, id: string, items: ReplayedEvent[]): Buffer =>
  key.seal(JSON.stringify(items), itemsAad(id));

export interface BacktestRequest {
  last: number;
  createdBy: string;
}

/** One at a time: it costs as much as real runs. Throws `backtest_active`. */
export async function requestBacktest(
  platform: Pick<PlatformContext, "db" | "vault">,
  automation: AutomationRow,
  { last, createdBy }: BacktestRequest,
): Promise<BacktestRow> {
  const { db } = platform;
  const latest = await db
    .selectFrom("automation_backtests")
    .selectAll()
    .where("automation_id", "=", automation.id)
    .orderBy("created_at", "desc")
    .limit(1)
    .executeTakeFirst();
  if (latest && (await showBacktest(platform, automation, latest)).status !== "done")
    throw new ApiError("backtest_active", `The back-test ${latest.id} has not ended yet. Wait for its end.`);
  return db
    .insertInto("automation_backtests")
    .values({
      ...{ id: `test-${randomUUID()}`, automation_id: automation.id, last },
      ...{ created_by: createdBy, created_at: new Date() },
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Throws `backtest_not_found`. */
export async function findBacktest(db: Queries, automationId: string, id: string): Promise<BacktestRow> {
  const row = await db
    .selectFrom("automation_backtests")
    .selectAll()
    .where("automation_id", "=", automationId)
    .where("id", "=", id)
    .executeTakeFirst();
  if (!row) throw new ApiError("backtest_not_found", `There is no back-test ${id.slice(0, 100)} of this automation.`);
  return row;
}

export async function showBacktest(
  platform: Pick<PlatformContext, "db" | "vault">,
  { team_id: teamId }: AutomationRow,
  row: BacktestRow,
): Promise<Backtest> {
  const { id, last } = row;
  const shared = { id, automationId: row.automation_id, last, createdAt: row.created_at.toISOString() };
  if (row.items === null) return { ...shared, status: "requested", items: [] };
  const key = await teamKey(platform.db, platform.vault, teamId);
  const events: ReplayedEvent[] = JSON.parse(key.openText(row.items, itemsAad(id)));
  const firings = await readFirings(platform.db, id);
  const agentIds = firings.map(({ agent_id }) => agent_id);
  const proposals = await listProposals(platform, { teamId, agentIds });
  const items = events.map(({ firingId, ...event }) => {
    const firing = firings.find((one) => one.id === firingId);
    if (!firing) return { ...event, proposals: [] };
    return { ...event, ...outcomeOf(firing), proposals: proposals.get(firing.agent_id) ?? [] };
  });
  return { ...shared, status: firings.every(hasEnded) ? "done" : "running", items };
}

type ReplayedFiring = FiringRow & { cost_usd: string | null; latest: string | null };

const readFirings = (db: Queries, backtestId: string): Promise<ReplayedFiring[]> =>
  db
    .selectFrom("automation_firings")
    .leftJoin("runs", "runs.id", "automation_firings.run_id")
    .selectAll("automation_firings")
    .select(["runs.cost_usd", "runs.id as latest"])
    .where("backtest_id", "=", backtestId)
    .execute();

/** A run whose agent was deleted has no end. */
const hasEnded = ({ status, run_status, latest }: ReplayedFiring): boolean =>
  status !== "planned" && (status !== "started" || run_status !== null || latest === null);

function outcomeOf({ status, reason, agent_id, run_id, run_status, cost_usd }: ReplayedFiring) {
  return {
    ...(status !== "started" && status !== "planned" && { outcome: "skip" as const }),
    ...(reason !== null && { reason }),
    ...(run_id !== null && { agentId: agent_id, runId: run_id }),
    ...(run_status !== null && { runStatus: run_status }),
    ...(cost_usd !== null && { costUsd: cost_usd }),
  };
}
