// Starts the runs of mentions, as the person who wrote the comment. Safe to repeat: an agent or a run is created once per mention.
import { createHash } from "node:crypto";
import type { Selectable } from "kysely";
import { ApiError, isDatabaseAway, type MentionTable, teamKey } from "../../foundation/index.ts";
import { RepositoryFault } from "../../repositories/index.ts";
import type { AutomationHost } from "../host.ts";
import { principalOfAgent } from "../identity.ts";
import type { Part } from "../work.ts";
import { promptAad } from "./mentions.ts";

type MentionRow = Selectable<MentionTable>;

const batchSize = 50;
const busyMs = 5_000;
const failedMs = 30_000;
/** That fail for another reason than a refusal; after this many the mention is refused. */
const maxAttempts = 5;

export const mentionsPart = (host: AutomationHost): Part => ({
  failure: "mentions.not_started",
  dueAt: ({ mentions }) => mentions,
  work: () => startMentions(host),
});

export async function startMentions(host: AutomationHost): Promise<void> {
  const rows = await host.platform.db
    .selectFrom("mentions")
    .selectAll()
    .where("status", "=", "planned")
    .orderBy("retry_at")
    .limit(batchSize)
    .execute();
  for (const row of rows) if (row.retry_at <= host.now()) await startOne(host, row);
}

async function startOne(host: AutomationHost, row: MentionRow): Promise<void> {
  try {
    const { runId, agentId } = await submit(host, row);
    const isSettled = await settle(host, row, { status: "started", run_id: runId, agent_id: agentId, reason: null });
    if (isSettled && row.is_new_agent)
      await answer(host, row, `Started: ${host.platform.publicUrl()}/agents/${agentId}`);
  } catch (error) {
    if (isDatabaseAway(error)) throw error;
    await settleFailed(host, row, error);
  }
}

/** Those behind it do not wait for it. */
async function settleFailed(host: AutomationHost, row: MentionRow, error: unknown): Promise<void> {
  const { reason, waitMs, attempts } = error instanceof ApiError ? judgeRefusal(row, error) : judgeFailure(row);
  if (!(error instanceof ApiError)) host.platform.log.error("mentions.attempt_failed", error, { id: row.id, attempts });
  if (waitMs !== null) {
    const retry_at = new Date(host.now().getTime() + waitMs);
    await settle(host, row, { status: "planned", reason, retry_at, attempts });
    return;
  }
  if (await settle(host, row, { status: "refused", reason, attempts }))
    await answer(host, row, `Not started. ${reason}`);
}

interface Verdict {
  reason: string;
  /** Null: it is not tried again. */
  waitMs: number | null;
  attempts: number;
}

function judgeRefusal({ attempts }: MentionRow, { code, status, message: reason }: ApiError): Verdict {
  const waitMs = code === "agent_busy" ? busyMs : status === 429 || status >= 500 ? failedMs : null;
  return { reason, waitMs, attempts };
}

function judgeFailure(row: MentionRow): Verdict {
  const attempts = row.attempts + 1;
  const reason = "The platform has failed; the server's log has the reason.";
  return { reason, waitMs: attempts < maxAttempts ? failedMs : null, attempts };
}

async function submit(host: AutomationHost, row: MentionRow): Promise<{ agentId: string; runId: string }> {
  const { db, vault } = host.platform;
  const { id, team_id, user_id, agent_id: agentId, repo_url: url, number, created_at } = row;
  const principal = await principalOfAgent(db, { id, team_id, user_id, service_account_id: null, created_at }, null);
  if (principal === null || agentId === null)
    throw new ApiError("forbidden", "The person who wrote the comment was removed from the team.");
  const text = (await teamKey(db, vault, team_id)).openText(row.prompt, promptAad(id));
  const idempotencyKey = { key: id, hash: createHash("sha256").update(id).digest() };
  const submission = { principal, requestId: id, source: "MENTION", idempotencyKey, budgetUsd: undefined };
  if (!row.is_new_agent) return host.submit.createRun(agentId, { prompt: { text } }, submission);
  const onPull = row.kind === "pull_request";
  const repository = { url, ...(onPull && { prUrl: host.pullRequestUrl(url, number) }) };
  // What is asked about a pull request is pushed to it.
  const branch = onPull ? { workOnCurrentBranch: true } : { autoCreatePR: true };
  return host.submit.createAgent({ agentId, prompt: { text }, repos: [repository], ...branch }, submission);
}

type Settled = Partial<Pick<MentionRow, "status" | "reason" | "run_id" | "agent_id" | "retry_at" | "attempts">>;

/** False where another server has settled it: that one answers. */
async function settle({ platform: { db } }: AutomationHost, { id }: MentionRow, values: Settled): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("mentions")
    .set(values)
    .where("id", "=", id)
    .where("status", "=", "planned")
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

const timeoutMs = 20_000;

/** For the person, where they wrote; a host that does not take it changes nothing. */
async function answer(host: AutomationHost, { team_id, repo_url, number }: MentionRow, body: string): Promise<void> {
  try {
    const { pullRequests } = await host.sources.open(team_id, repo_url);
    await pullRequests?.comment(number, { author: "platform", body }, AbortSignal.timeout(timeoutMs));
  } catch (error) {
    if (!(error instanceof RepositoryFault) && !(error instanceof ApiError)) throw error;
    host.platform.log.warn("mentions.not_answered", { error: error.message });
  }
}
