// Automations in the database, always within one team.
import { randomUUID } from "node:crypto";
import type { ChangeAutomation, CreateAutomation } from "@agentcli/protocol/api";
import { type Selectable, sql } from "kysely";
import {
  ApiError,
  type AutomationTable,
  type DataKey,
  isUniqueViolation,
  type Position,
  type Queries,
} from "../foundation/index.ts";
import { refuseFormerUser } from "../identity/index.ts";
import { openDefinition, replaceTriggers, sealDefinition, withIds } from "./definition.ts";
import { planFirings, skipPlanned } from "./firings/store.ts";
import { restoreValues, withoutValues } from "./mcp-servers.ts";
import { removeWebhookKeys } from "./webhook-keys.ts";

export type AutomationRow = Selectable<AutomationTable>;

export interface NewAutomation extends CreateAutomation {
  /** Absent: a new one. */
  id?: string;
  teamId: number;
  /** Null: of the team. */
  userId: number | null;
  key: DataKey;
}

/** Throws ApiError `automation_name_conflict`. */
export async function insertAutomation(tx: Queries, automation: NewAutomation, now: Date): Promise<AutomationRow> {
  const { teamId, userId, key, name, scope, enabled, missed } = automation;
  const { description, prompt, model, target, tools, limits, shadow } = automation;
  const { id = `auto-${randomUUID()}` } = automation;
  const triggers = withIds(automation.triggers, []);
  await refuseFormerUser(tx);
  const row = await tx
    .insertInto("automations")
    .values({
      ...{ id, team_id: teamId, user_id: userId, scope, name, missed, enabled },
      definition: sealDefinition(key, id, {
        description,
        prompt,
        ...(model && { model }),
        target,
        tools: restoreValues(tools, { former: { createPullRequest: true }, isPromotion: false }),
        limits,
        triggers,
        shadow,
      }),
      ...(enabled ? {} : { disabled_reason: "It was created disabled.", disabled_at: now }),
      created_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
    .catch(asNameConflict(name));
  await replaceTriggers(tx, id, triggers);
  if (enabled) await planFirings(tx, id, now);
  return row;
}

const asNameConflict =
  (name: string) =>
  (error: unknown): never => {
    if (!isUniqueViolation(error)) throw error;
    throw new ApiError(
      "automation_name_conflict",
      `name: there is an automation ${JSON.stringify(name)} already; choose another name or change that one.`,
    );
  };

export interface ChangeContext {
  automation: AutomationRow;
  key: DataKey;
  now: Date;
  /** Throws ApiError if the caller may not change what the automation has become in the meantime. */
  authorize(locked: AutomationRow): void;
}

/** All at once or nothing. What was planned for a trigger that is gone is skipped. */
export async function changeAutomation(tx: Queries, context: ChangeContext, change: ChangeAutomation): Promise<void> {
  const { automation, key, now, authorize } = context;
  const { id } = automation;
  const locked = await lockAutomation(tx, id);
  authorize(locked);
  const former = openDefinition(key, locked);
  const { name = locked.name, missed = locked.missed, scope = locked.scope, triggers: given, model, ...rest } = change;
  const triggers = given ? withIds(given, former.triggers) : former.triggers;
  const { model: formerModel, ...others } = former;
  const kept = model === undefined ? formerModel : (model ?? undefined);
  const isPromotion = scope === "team_owned" && locked.scope !== "team_owned";
  const tools = restoreValues(rest.tools ?? withoutValues(former.tools), { former: former.tools, isPromotion });
  const definition = { ...others, ...withoutUndefined(rest), ...(kept && { model: kept }), tools, triggers };
  await tx
    .updateTable("automations")
    .set({
      ...{ name, missed, scope, version: locked.version + 1, updated_at: now },
      ...(scope === "team_owned" && { user_id: null }),
      definition: sealDefinition(key, id, definition),
    })
    .where("id", "=", id)
    .execute()
    .catch(asNameConflict(name));
  // A key of the former owner would start runs of the team.
  if (isPromotion) await removeWebhookKeys(tx, id);
  await replaceTriggers(tx, id, triggers);
  await skipPlanned(tx, {
    automationId: id,
    reason: "The trigger was changed or removed.",
    keep: triggers.map((trigger) => trigger.id),
  });
  if (locked.enabled) await planFirings(tx, id, now);
}

const withoutUndefined = <T extends object>(value: T): { [Key in keyof T]: Exclude<T[Key], undefined> } =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as never;

/** Until the end of the transaction it does not change. Throws `automation_not_found`. */
export async function lockAutomation(tx: Queries, id: string): Promise<AutomationRow> {
  const row = await tx.selectFrom("automations").selectAll().where("id", "=", id).forUpdate().executeTakeFirst();
  if (!row) throw notFound(id);
  return row;
}

export async function enableAutomation(tx: Queries, id: string, now: Date): Promise<AutomationRow> {
  const { enabled } = await lockAutomation(tx, id);
  if (!enabled) {
    const values = { enabled: true, disabled_reason: null, disabled_at: null, updated_at: now };
    await tx.updateTable("automations").set(values).where("id", "=", id).execute();
    await planFirings(tx, id, now);
  }
  return lockAutomation(tx, id);
}

/** What is planned is skipped, with the reason. */
export async function disableAutomation(
  tx: Queries,
  { id, reason, now }: { id: string; reason: string; now: Date },
): Promise<AutomationRow> {
  const { enabled } = await lockAutomation(tx, id);
  if (enabled) {
    const values = { enabled: false, disabled_reason: reason, disabled_at: now, updated_at: now };
    await tx.updateTable("automations").set(values).where("id", "=", id).execute();
    await skipPlanned(tx, { automationId: id, reason: `The automation is disabled: ${reason}` });
  }
  return lockAutomation(tx, id);
}

export async function deleteAutomation(db: Queries, id: string): Promise<void> {
  await db.deleteFrom("automations").where("id", "=", id).execute();
}

/** Of another team is the same as not there. */
export async function findAutomation(db: Queries, teamId: number, id: string): Promise<AutomationRow> {
  const row = await db
    .selectFrom("automations")
    .selectAll()
    .where("id", "=", id.toLowerCase())
    .where("team_id", "=", teamId)
    .executeTakeFirst();
  if (!row) throw notFound(id);
  return row;
}

export const notFound = (id: string): ApiError =>
  new ApiError("automation_not_found", `There is no automation ${id.slice(0, 100)}.`);

export interface AutomationFilter {
  teamId: number;
  /** Private ones of this user beside those that the team sees; null: only those. */
  userId: number | null;
}

/** Newest first; one more than the limit where there is a next page. */
export function listAutomations(
  db: Queries,
  { teamId, userId }: AutomationFilter,
  { limit, after }: { limit: number; after: Position | null },
): Promise<AutomationRow[]> {
  let query = db
    .selectFrom("automations")
    .selectAll()
    .where("team_id", "=", teamId)
    .where(({ eb, or }) => or([eb("scope", "<>", "private"), ...(userId === null ? [] : [eb("user_id", "=", userId)])]))
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(limit + 1);
  if (after) query = query.where(sql<boolean>`(created_at, id) < (${after.createdAt}, ${after.id})`);
  return query.execute();
}
