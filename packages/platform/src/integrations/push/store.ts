// Subscriptions of browsers: one for each session, and gone with it. The address and the keys of one suffice to send messages.
import type { PushSubscription } from "@agentcli/protocol/api";
import { type PlatformContext, type Queries, teamKey } from "../../foundation/index.ts";

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
  await db
    .insertInto("push_subscriptions")
    .values({ session_id: sessionId, subscription })
    .onConflict((conflict) => conflict.column("session_id").doUpdateSet({ subscription }))
    .execute();
}

/** With what was still to be sent. */
export async function removeSubscription(db: Queries, sessionId: string): Promise<void> {
  await db.deleteFrom("push_subscriptions").where("session_id", "=", sessionId).execute();
}

export async function isSubscribed(db: Queries, sessionId: string): Promise<boolean> {
  const row = await db
    .selectFrom("push_subscriptions")
    .select("session_id")
    .where("session_id", "=", sessionId)
    .executeTakeFirst();
  return row !== undefined;
}
