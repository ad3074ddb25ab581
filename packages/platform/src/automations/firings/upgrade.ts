// Runs without effects wait while servers are upgraded: a runner of another version may not know that they only propose.
import { listNodes, type Queries, version } from "../../foundation/index.ts";
import type { AutomationHost } from "../host.ts";
import { findFiring } from "./admit.ts";
import type { FiringRow } from "./store.ts";

/** Whether a runner of another version than this server's works. */
export const isUpgrading = async (db: Queries): Promise<boolean> =>
  (await listNodes(db)).some((node) => node.isRunning && node.roles.includes("runner") && node.version !== version);

/** Stays planned: tried again when its claim has expired. The first attempt stays the first one, however long that takes. */
export async function holdFiring({ platform: { db } }: AutomationHost, { id }: FiringRow): Promise<FiringRow> {
  await db
    .updateTable("automation_firings")
    .set({ attempts: 1, reason: "Waits until all servers with the role runner have the same version." })
    .where("id", "=", id)
    .where("status", "=", "planned")
    .execute();
  return findFiring(db, id);
}
