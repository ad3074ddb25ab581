// Reads a due delivery and decrypts its URL, secret and body.
import type { WebhookVersion } from "../../foundation/index.ts";
import { errorAad, resultAad } from "../../runs/index.ts";
import type { DeliveryHost } from "./host.ts";
import { describeEnd, type EndedRun } from "./message.ts";
import type { DeliveryJob } from "./outbox.ts";
import { bodySealContext, secretSealContext, urlSealContext } from "./store.ts";

export interface DueDelivery {
  url: string;
  secret: string | undefined;
  version: WebhookVersion;
  body: Buffer;
  attemptsBefore: number;
  teamId: number;
}

/** Null if the attempt was already made, or the agent was deleted. */
export async function readDue(host: DeliveryHost, { deliveryId, attempt }: DeliveryJob): Promise<DueDelivery | null> {
  const { db, vault } = host.platform;
  const row = await db
    .selectFrom("webhook_deliveries")
    .innerJoin("webhooks", "webhooks.agent_id", "webhook_deliveries.agent_id")
    .innerJoin("agents", "agents.id", "webhook_deliveries.agent_id")
    .innerJoin("runs", "runs.id", "webhook_deliveries.run_id")
    .selectAll("webhook_deliveries")
    .select(["version", "url", "secret", "data_key", "settings", "runs.status as run_status", "ended_at"])
    .select(["result", "error_message", "agents.team_id as team_id"])
    .where("webhook_deliveries.id", "=", deliveryId)
    .where("webhook_deliveries.status", "=", "waiting")
    .where("webhook_deliveries.attempts", "=", attempt - 1)
    .executeTakeFirst();
  if (!row) return null;
  const { agent_id: agentId, run_id: runId, version } = row;
  const key = await vault.unwrap(row.data_key);
  const [repository] = row.settings.repos;
  const summary =
    (row.result && key.openText(row.result, resultAad(runId))) ||
    (row.error_message && key.openText(row.error_message, errorAad(runId))) ||
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
    url: key.openText(row.url, urlSealContext(agentId)),
    secret: row.secret ? key.openText(row.secret, secretSealContext(agentId)) : undefined,
    version,
    body: row.body
      ? key.open(row.body, bodySealContext(deliveryId))
      : await storeBody(host, { deliveryId, key, compose }),
    attemptsBefore: row.attempts_before,
    teamId: row.team_id,
  };
}

interface NewBody {
  deliveryId: string;
  key: { seal(text: Buffer, about: string): Buffer };
  compose(): Promise<EndedRun>;
}

/** Stored before the first attempt: all attempts of one id send the same bytes. */
async function storeBody(host: DeliveryHost, { deliveryId, key, compose }: NewBody): Promise<Buffer> {
  const body = Buffer.from(JSON.stringify(describeEnd(await compose())));
  await host.platform.db
    .updateTable("webhook_deliveries")
    .set({ body: key.seal(body, bodySealContext(deliveryId)) })
    .where("id", "=", deliveryId)
    .execute();
  return body;
}

/** Prefers the branch with a pull request. */
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
