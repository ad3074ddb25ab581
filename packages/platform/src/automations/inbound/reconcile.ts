// Finds deliveries that never came: the host does not repeat them by itself, so the platform asks for them, again and again.
import { type Activity, ApiError } from "../../foundation/index.ts";
import { RepositoryFault } from "../../repositories/index.ts";
import type { AutomationHost } from "../host.ts";
import { repeat } from "../repeat.ts";
import { claimPoll, notePoll, type PollWork } from "./polls.ts";
import { recover, sinceOf } from "./recover.ts";
import { reconcileRepositories } from "./repository-hooks.ts";

const intervalMs = 5 * 60_000;
const timeoutMs = 60_000;

export const startReconciling = (host: AutomationHost): Activity =>
  repeat(host, {
    failure: "automations.deliveries_not_listed",
    work: async () => void (await reconcile(host)),
    intervalMs,
  });

/** How many it has found; each webhook is asked about at most once per interval over all servers. */
export async function reconcile(host: AutomationHost): Promise<number> {
  if (!(await hasSources(host))) return 0;
  return (await reconcileApp(host)) + (await reconcileRepositories(host, poll));
}

const hasSources = async ({ platform: { db } }: AutomationHost): Promise<boolean> =>
  (await db.selectFrom("event_sources").select("id").where("type", "=", "github").limit(1).executeTakeFirst()) !==
  undefined;

async function reconcileApp(host: AutomationHost): Promise<number> {
  const { hookDeliveries } = host;
  if (hookDeliveries === null) return 0;
  return poll(host, "github", (claimed, signal) =>
    recover(host, { from: hookDeliveries, since: sinceOf(host, claimed), teamId: null }, signal),
  );
}

/** How many it has found; none where it is not time yet. A failure is kept, and logged when it is a new one. */
async function poll(host: AutomationHost, connection: string, work: PollWork): Promise<number> {
  const claimed = await claimPoll(host, { connection, intervalMs: intervalMs / 2 });
  if (claimed === null) return 0;
  try {
    const found = await work(claimed, AbortSignal.timeout(timeoutMs));
    if (found.failure !== null && found.failure !== claimed.failure)
      host.platform.log.warn("automations.deliveries_missing", { connection, error: found.failure });
    await notePoll(host, connection, found);
    return found.recovered;
  } catch (error) {
    if (!(error instanceof RepositoryFault) && !(error instanceof ApiError)) throw error;
    if (error.message !== claimed.failure)
      host.platform.log.warn("automations.deliveries_not_listed", { connection, error: error.message });
    await notePoll(host, connection, { recovered: 0, seenUntil: null, failure: error.message });
    return 0;
  }
}
