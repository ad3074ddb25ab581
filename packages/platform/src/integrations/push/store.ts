// Subscriptions of browsers: one for each session, and gone with it. The address and the keys of one suffice to send messages.
import type { PushSubscription } from "@agentcli/protocol/api";
import { type PlatformContext, type Queries, recordAuditEvent, teamKey } from "../../foundation/index.ts";

export const subscriptionAad = (sessionId: string): string => `push_subscriptions.subscription ${sessionId}`;

export interface Subscriber {
  sessionId: string;
  teamId: number;
}

export async function storeSubscription(
  { db, vault }: Pick<PlatformContext, "db" | "vault">,
  { sessionId, teamId }: Subscriber,
  { endpoint, keys }: PushSubscription,
): Promise<void> {
  const key = await teamKey(db, vault, teamId);
  const subscription = key.seal(JSON.stringify({ endpoint, keys }), subscriptionAad(sessionId));
  await db.transaction().execute(async (tx) => {
    await tx
      .insertInto("push_subscriptions")
      .values({ session_id: sessionId, subscription })
      .onConflict((conflict) => conflict.column("session_id").doUpdateSet({ subscription }))
      .execute();
    await recordAuditEvent(tx, { action: "push.subscribed", subject: sessionId, data: {} });
  });
}

/** With what was still to be sent. Nothing is recorded where there was none. */
export async function removeSubscription(db: PlatformContext["db"], sessionId: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const removed = await tx.deleteFrom("push_subscriptions").where("session_id", "=", sessionId).executeTakeFirst();
    if (removed.numDeletedRows === 0n) return;
    await recordAuditEvent(tx, { action: "push.unsubscribed", subject: sessionId, data: {} });
  });
}

export async function isSubscribed(db: Queries, sessionId: string): Promise<boolean> {
  const row = await db
    .selectFrom("push_subscriptions")
    .select("session_id")
    .where("session_id", "=", sessionId)
    .executeTakeFirst();
  return row !== undefined;
}
