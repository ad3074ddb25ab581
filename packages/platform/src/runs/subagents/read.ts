// Sub-agents from their sealed threads: what each was asked, how it ended, what it cost and what it did.
import type { StoredRecord } from "@agentcli/engine";
import type { RecordOf } from "@agentcli/protocol";
import type { RunSubagent, RunSubagentDetails, SubagentEvent } from "@agentcli/protocol/api";
import { toCents } from "@agentcli/protocol/money";
import { runStream } from "@agentcli/surfaces/run-stream";
import { ApiError, type DataKey, type PlatformContext } from "../../foundation/index.ts";
import type { ReadableAgent } from "../agent-reader.ts";
import { readThreadRecords } from "../execution/session-store.ts";
import { chargesOf } from "../usage/index.ts";

export interface SubagentRequest {
  agent: ReadableAgent;
  runId: string;
}

/** In the order in which they began; parents come before their children. */
export async function listSubagents(platform: PlatformContext, request: SubagentRequest): Promise<RunSubagent[]> {
  return (await readThreads(platform, request)).map(summaryOf);
}

/** Throws `not_found` for one that the run has not. */
export async function readSubagent(
  platform: PlatformContext,
  request: SubagentRequest & { subagentId: string },
): Promise<RunSubagentDetails> {
  const thread = (await readThreads(platform, request)).find(({ id }) => id === request.subagentId);
  if (!thread) throw new ApiError("not_found", `Run ${request.runId} has no sub-agent ${request.subagentId}.`);
  return { ...summaryOf(thread), events: eventsOf(thread.records) };
}

interface SubagentThread {
  id: string;
  parentId: string | null;
  records: StoredRecord[];
  isRunActive: boolean;
}

/** Those of which the run has paid a turn: sub-agents may outlive the run that began them. */
async function readThreads({ db, vault }: PlatformContext, request: SubagentRequest): Promise<SubagentThread[]> {
  const { agent, runId } = request;
  const run = await db
    .selectFrom("runs")
    .select(["id", "status"])
    .where("agent_id", "=", agent.id)
    .where("id", "=", runId)
    .executeTakeFirst();
  if (!run) throw new ApiError("run_not_found", `Agent ${agent.id} has no run ${runId.slice(0, 100)}.`);
  const rows = await db
    .selectFrom("threads")
    .select(["id", "parent_id"])
    .where("agent_id", "=", agent.id)
    .where("parent_id", "is not", null)
    .orderBy("created_at")
    .execute();
  if (rows.length === 0) return [];
  const key = await vault.unwrap(agent.data_key);
  const isRunActive = run.status === "CREATING" || run.status === "RUNNING";
  const threads: SubagentThread[] = [];
  for (const { id, parent_id } of rows) {
    const records = await readAll(db, key, id);
    const parentId = parent_id === agent.id ? null : parent_id;
    if (records.some(({ record }) => record.type === "turn.begun" && record.paidBy === runId))
      threads.push({ id, parentId, records, isRunActive });
  }
  return threads;
}

async function readAll(db: PlatformContext["db"], key: DataKey, threadId: string): Promise<StoredRecord[]> {
  const records: StoredRecord[] = [];
  for await (const page of readThreadRecords(db, key, threadId)) records.push(...page);
  return records;
}

function summaryOf({ id, parentId, records, isRunActive }: SubagentThread): RunSubagent {
  const created = find(records, "thread.created");
  const turns = records.flatMap(({ record }) => (record.type === "turn.begun" ? [record] : []));
  const [first] = turns;
  const last = records.findLast(({ record }) => record.type === "turn.begun" || record.type === "turn.ended");
  const end = last?.record.type === "turn.ended" ? last.record.end : null;
  const cost = chargesOf(records)?.costUsd ?? null;
  const cents = cost === null ? null : toCents(cost);
  const at = (stored: StoredRecord | undefined) => Date.parse(stored?.at ?? "") || 0;
  return {
    id,
    ...(parentId !== null && { parentId }),
    name: created?.nickname ?? id,
    role: created?.role ?? "default",
    task: textOf(first),
    status: end?.status ?? (isRunActive ? "running" : "cancelled"),
    startedAt: records[0]?.at ?? "",
    ...(end !== null && { durationMs: Math.max(0, at(last) - at(records[0])) }),
    ...(first && { model: { id: first.settings.model } }),
    ...(cents !== null && { cost: { rawCostCents: cents, chargedCents: cents } }),
  };
}

function find(records: StoredRecord[], type: "thread.created"): RecordOf<"thread.created"> | undefined {
  const record = records[0]?.record;
  return record?.type === type ? record : undefined;
}

const textOf = (turn: RecordOf<"turn.begun"> | undefined): string =>
  (turn?.input ?? []).flatMap((part) => (part.type === "text" ? part.text : [])).join("\n\n");

/** As a stream would show them. Records are scrubbed already. */
function eventsOf(records: StoredRecord[]): SubagentEvent[] {
  const stream = runStream((text) => text);
  return records
    .flatMap((stored) => stream.record(stored).flat())
    .filter((frame) => frame.event === "assistant" || frame.event === "thinking" || frame.event === "tool_call");
}
