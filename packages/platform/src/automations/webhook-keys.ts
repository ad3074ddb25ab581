// Keys of the webhook of an automation: they start this automation, and nothing else.
import type { Selectable } from "kysely";
import { ApiError, type AutomationTable, type AutomationWebhookKeyTable, type Queries } from "../foundation/index.ts";
import { hashKey, isSameHash, keyIdOf, makeKey } from "../identity/index.ts";

type KeyRow = Selectable<AutomationWebhookKeyTable>;

/** The whole key is only in the result. */
export async function createWebhookKey(
  db: Queries,
  automationId: string,
  name: string,
): Promise<{ id: string; key: string }> {
  const { id, key, hash } = makeKey("pla");
  const row = { id, automation_id: automationId, name, hash, created_at: new Date() };
  await db.insertInto("automation_webhook_keys").values(row).execute();
  return { id, key };
}

/** Throws `webhook_key_not_found`. */
export async function removeWebhookKey(db: Queries, automationId: string, id: string): Promise<void> {
  const { numDeletedRows } = await db
    .deleteFrom("automation_webhook_keys")
    .where("automation_id", "=", automationId)
    .where("id", "=", id)
    .executeTakeFirst();
  if (numDeletedRows > 0n) return;
  throw new ApiError("webhook_key_not_found", `Automation ${automationId} has no webhook key ${id.slice(0, 100)}.`);
}

/** All of them; the sender of webhooks needs a new one. */
export async function removeWebhookKeys(db: Queries, automationId: string): Promise<void> {
  await db.deleteFrom("automation_webhook_keys").where("automation_id", "=", automationId).execute();
}

export const listWebhookKeys = (db: Queries, automationId: string): Promise<KeyRow[]> =>
  db
    .selectFrom("automation_webhook_keys")
    .selectAll()
    .where("automation_id", "=", automationId)
    .orderBy("created_at")
    .orderBy("id")
    .execute();

/** The automation that the key starts; null for any other key. */
export async function findByKey(
  db: Queries,
  automationId: string,
  key: string,
): Promise<Selectable<AutomationTable> | null> {
  const keyId = keyIdOf(key, "pla");
  if (keyId === null) return null;
  const row = await db
    .selectFrom("automation_webhook_keys")
    .innerJoin("automations", "automations.id", "automation_webhook_keys.automation_id")
    .selectAll("automations")
    .select("automation_webhook_keys.hash")
    .where("automation_webhook_keys.id", "=", keyId)
    .where("automations.id", "=", automationId)
    .executeTakeFirst();
  if (!row || !isSameHash(row.hash, hashKey(key))) return null;
  const { hash: _, ...automation } = row;
  return automation;
}
