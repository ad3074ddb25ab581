// A delivery that is due, with what is sealed of it opened.
import type { WebhookVersion } from "../db/index.ts";
import { errorPlace, resultPlace } from "../runs/index.ts";
import type { DeliveryHost } from "./deliver.ts";
import { describeEnd, type EndedRun } from "./message.ts";
import type { DeliveryJob } from "./outbox.ts";
import { bodyPlace, secretPlace, urlPlace } from "./store.ts";

export interface Due {
  url: string;
  secret: string | undefined;
  version: WebhookVersion;
  body: Buffer;
  attemptsBefore: number;
}

/** Null where the attempt was made already, or the delivery is gone with its agent. */
export async function readDue(host: DeliveryHost, { deliveryId, attempt }: DeliveryJob): Promise<Due | null> {
  const { db, vault } = host.platform;
  const row = await db
    .selectFrom("webhook_deliveries")
    .innerJoin("webhooks", "webhooks.agent_id", "webhook_deliveries.agent_id")
    .innerJoin("agents", "agents.id", "webhook_deliveries.agent_id")
    .innerJoin("runs", "runs.id", "webhook_deliveries.run_id")
    .selectAll("webhook_deliveries")
    .select(["version", "url", "secret", "data_key", "settings", "runs.status as run_status", "ended_at"])
    .select(["result", "error_message"])
    .where("webhook_deliveries.id", "=", deliveryId)
    .where("webhook_deliveries.status", "=", "waiting")
    .where("webhook_deliveries.attempts", "=", attempt - 1)
    .executeTakeFirst();
  if (!row) return null;
  const { agent_id: agentId, run_id: runId, version } = row;
  const key = await vault.unwrap(row.data_key);
  const [repository] = row.settings.repos;
  const summary =
    (row.result && key.openText(row.result, resultPlace(runId))) ||
    (row.error_message && key.openText(row.error_message, errorPlace(runId))) ||
    undefined;
  const compose = async (): Promise<EndedRun> => ({
    version,
    agentId,
    runId,
    status: row.run_status,
    endedAt: row.ended_at ?? row.created_at,
    repository: repository && { url: repository.url, ref: repository.startingRef },
    agentUrl: version === "v0" ? `${host.publicUrl()}/agents?id=${agentId}` : `${host.publicUrl()}/agents/${agentId}`,
    ...(await readBranch(host, agentId)),
    summary,
  });
  return {
    url: key.openText(row.url, urlPlace(agentId)),
    secret: row.secret ? key.openText(row.secret, secretPlace(agentId)) : undefined,
    version,
    body: row.body ? key.open(row.body, bodyPlace(deliveryId)) : await keepBody(host, { deliveryId, key, compose }),
    attemptsBefore: row.attempts_before,
  };
}

interface Keeping {
  deliveryId: string;
  key: { seal(text: Buffer, about: string): Buffer };
  compose(): Promise<EndedRun>;
}

/** Before it is sent: whatever changes until the next attempt, the same id means the same bytes. */
async function keepBody(host: DeliveryHost, { deliveryId, key, compose }: Keeping): Promise<Buffer> {
  const body = Buffer.from(JSON.stringify(describeEnd(await compose())));
  await host.platform.db
    .updateTable("webhook_deliveries")
    .set({ body: key.seal(body, bodyPlace(deliveryId)) })
    .where("id", "=", deliveryId)
    .execute();
  return body;
}

/** Of several, the one with a pull request. */
async function readBranch({ platform: { db } }: DeliveryHost, agentId: string) {
  const row = await db
    .selectFrom("handoffs")
    .select(["branch", "pr_url"])
    .where("agent_id", "=", agentId)
    .where("pushed_commit", "is not", null)
    .orderBy("pr_url", (order) => order.asc().nullsLast())
    .orderBy("repo_url")
    .executeTakeFirst();
  return { branchName: row?.branch, prUrl: row?.pr_url ?? undefined };
}
