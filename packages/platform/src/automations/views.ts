// Automations, firings and alerts as the API shows them.
import type { Automation, AutomationAlert, Firing } from "@agentcli/protocol/api";
import { type PlatformContext, type Queries, teamKey } from "../foundation/index.ts";
import type { AlertRow } from "./alerts.ts";
import { limitsOf, openDefinition } from "./definition.ts";
import type { FiringRow } from "./firings/store.ts";
import { withoutValues } from "./mcp-servers.ts";
import type { AutomationRow } from "./store.ts";
import { listWebhookKeys } from "./webhook-keys.ts";

export interface ViewContext {
  platform: Pick<PlatformContext, "db" | "vault">;
  publicUrl(): string;
}

export async function automationOf({ platform, publicUrl }: ViewContext, row: AutomationRow): Promise<Automation> {
  const { db, vault } = platform;
  const definition = openDefinition(await teamKey(db, vault, row.team_id), row);
  const next = await boundaryFiring(db, row.id, "planned");
  const last = await boundaryFiring(db, row.id, "started");
  const hasWebhook = definition.triggers.some(({ type }) => type === "webhook");
  const keys = hasWebhook ? await listWebhookKeys(db, row.id) : [];
  const keyPrefixes = keys.map(({ id }) => `pla_${id}`);
  return {
    ...definition,
    tools: withoutValues(definition.tools),
    limits: limitsOf(definition),
    shadow: definition.shadow ?? false,
    id: row.id,
    name: row.name,
    scope: row.scope,
    missed: row.missed,
    enabled: row.enabled,
    ...(row.disabled_reason !== null && { disabledReason: row.disabled_reason }),
    ...(row.disabled_at && { disabledAt: row.disabled_at.toISOString() }),
    ...(row.user_id !== null && { ownerUserId: row.user_id }),
    teamId: row.team_id,
    ...(hasWebhook && { webhook: { url: webhookUrl(publicUrl(), row.id), keyPrefixes } }),
    ...(next && { nextFiringAt: next.planned_at.toISOString() }),
    ...(last?.decided_at && { lastRunAt: last.decided_at.toISOString() }),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

/** Of planned ones there are few, and the earliest counts. */
function boundaryFiring(db: Queries, automationId: string, status: "planned" | "started") {
  return db
    .selectFrom("automation_firings")
    .select(["planned_at", "decided_at"])
    .where("automation_id", "=", automationId)
    .where("status", "=", status)
    .where("backtest_id", "is", null)
    .orderBy("planned_at", status === "planned" ? "asc" : "desc")
    .limit(1)
    .executeTakeFirst();
}

export const webhookUrl = (publicUrl: string, automationId: string): string =>
  `${publicUrl}/automations/webhook/${automationId.replace(/^auto-/, "")}`;

export const firingOf = (row: FiringRow): Firing => ({
  id: row.id,
  automationId: row.automation_id,
  source: row.source,
  ...(row.trigger_id !== null && { triggerId: row.trigger_id }),
  status: row.status,
  ...(row.reason !== null && { reason: row.reason }),
  plannedAt: row.planned_at.toISOString(),
  ...(row.decided_at && { decidedAt: row.decided_at.toISOString() }),
  ...(row.run_id !== null && { agentId: row.agent_id, runId: row.run_id }),
  ...(row.run_status !== null && { runStatus: row.run_status }),
  ...(row.cause_id !== null && { causedBy: row.cause_id }),
  ...(row.effects === "shadow" && { shadow: true }),
  ...(row.recovered && { recovered: true }),
});

export const alertOf = (row: AlertRow): AutomationAlert => ({
  id: row.id,
  kind: row.kind,
  message: row.message,
  ...(row.firing_id !== null && { firingId: row.firing_id }),
  createdAt: row.created_at.toISOString(),
});
