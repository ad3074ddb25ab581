// The summary of a run for hand-off, identical at every call: read from the sealed thread and the earlier runs.
import type { ThreadRecord } from "@agentcli/protocol";
import type { DataKey, PlatformContext } from "../../foundation/index.ts";
import type { RunReport, RunSummary } from "../../repositories/index.ts";
import { recordedSecrets } from "../../secrets/index.ts";
import { threadOf } from "./ids.ts";
import { agentNameAad, errorAad, resultAad } from "./request.ts";
import { runtimeSecrets } from "./secrets.ts";
import { recordAad } from "./session-store.ts";
import { verifiedCommands } from "./verified-commands.ts";

export async function readSummary({ db, vault }: PlatformContext, runId: string): Promise<RunSummary> {
  const run = await db
    .selectFrom("runs")
    .innerJoin("agents", "agents.id", "runs.agent_id")
    .leftJoin("users", "users.id", "runs.user_id")
    .select([
      "agent_id",
      "runs.team_id",
      "number",
      "agents.name",
      "data_key",
      "settings",
      "email",
      "first_name",
      "last_name",
    ])
    .where("runs.id", "=", runId)
    .executeTakeFirstOrThrow();
  const key = await vault.unwrap(run.data_key);
  const turn = await readTurn(db, key, { threadId: threadOf(run.agent_id), turnId: runId });
  const earlier = run.number === 1 ? [] : await finishedBefore(db, run);
  const results = earlier.flatMap(({ id, result }) => (result ? key.openText(result, resultAad(id)) : []));
  return {
    agentId: run.agent_id,
    teamId: run.team_id,
    name: key.openText(run.name, agentNameAad(run.agent_id)),
    results: [...results, turn.message],
    commands: verifiedCommands(turn.records),
    endedAt: turn.endedAt,
    autoCreatePR: run.settings.autoCreatePR,
    opensAsApp: run.settings.openAsApp,
    asksForReview: run.settings.autoCreatePR && !run.settings.skipReviewerRequest,
    secrets: runtimeSecrets(await recordedSecrets(db, { agent: { id: run.agent_id }, key })),
    onBehalfOf:
      run.email === null
        ? null
        : { name: [run.first_name, run.last_name].filter(Boolean).join(" ") || run.email, email: run.email },
  };
}

const finishedBefore = (db: PlatformContext["db"], { agent_id, number }: { agent_id: string; number: number }) =>
  db
    .selectFrom("runs")
    .select(["id", "result"])
    .where("agent_id", "=", agent_id)
    .where("number", "<", number)
    .where("status", "=", "FINISHED")
    .orderBy("number")
    .execute();

/** The status of a run, shown with its commit. */
export async function readReport({ db, vault }: PlatformContext, runId: string): Promise<RunReport> {
  const run = await db
    .selectFrom("runs")
    .innerJoin("agents", "agents.id", "runs.agent_id")
    .select(["agent_id", "runs.team_id", "status", "runs.created_at", "ended_at", "result", "error_message"])
    .select(["data_key", "settings"])
    .where("runs.id", "=", runId)
    .executeTakeFirstOrThrow();
  const key = await vault.unwrap(run.data_key);
  return {
    agentId: run.agent_id,
    teamId: run.team_id,
    repositoryUrls: run.settings.repos.map(({ url }) => url),
    status: run.status,
    createdAt: run.created_at,
    endedAt: run.ended_at,
    text: run.error_message
      ? key.openText(run.error_message, errorAad(runId))
      : run.result
        ? key.openText(run.result, resultAad(runId))
        : "",
  };
}

interface TurnId {
  threadId: string;
  turnId: string;
}

interface EndedTurn {
  message: string;
  endedAt: Date;
  /** In order. */
  records: ThreadRecord[];
}

const pageSize = 200;

/** Reads from the end of the thread: a turn that has just ended is the last one. */
async function readTurn(db: PlatformContext["db"], key: DataKey, { threadId, turnId }: TurnId): Promise<EndedTurn> {
  const newestFirst: ThreadRecord[] = [];
  let ended: Pick<EndedTurn, "message" | "endedAt"> | undefined;
  for (let before = 2 ** 31 - 1; ; ) {
    const rows = await db
      .selectFrom("thread_records")
      .select(["seq", "at", "record"])
      .where("thread_id", "=", threadId)
      .where("seq", "<", before)
      .orderBy("seq", "desc")
      .limit(pageSize)
      .execute();
    for (const { seq, at, record: sealed } of rows) {
      const record: ThreadRecord = JSON.parse(key.openText(sealed, recordAad(threadId, seq)));
      newestFirst.push(record);
      before = seq;
      if (record.type === "turn.ended" && record.turnId === turnId)
        ended = { message: record.end.status === "completed" ? record.end.message : "", endedAt: at };
      if (record.type !== "turn.begun" || record.turnId !== turnId) continue;
      if (ended !== undefined) return { ...ended, records: newestFirst.reverse() };
    }
    if (rows.length < pageSize) throw new Error(`the turn of ${turnId} has not ended`);
  }
}
