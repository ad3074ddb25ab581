// Resumes the agent's thread for a run: its first turn, a follow-up, or an interrupted turn.
import {
  emptyThread,
  type Log,
  readThread,
  type SessionStore,
  type StoredRecord,
  type ThreadState,
} from "@agentcli/engine";
import { sandboxNote, serviceTurnRecords } from "@agentcli/host";
import type { ThreadRecord, TurnEnd, TurnSettings } from "@agentcli/protocol";
import type { Kysely } from "kysely";
import { type Tables, version } from "../../foundation/index.ts";
import { type FrameWriter, readPrinted } from "../streams/index.ts";
import type { RunAssembly, RunPlan } from "./compose/index.ts";
import { threadOf } from "./ids.ts";
import type { ActiveRun } from "./records.ts";

/** The content of the log before this driver writes to it. */
export interface RunHistory {
  state: ThreadState;
  /** Records of this run; empty if its turn has not begun. */
  records: StoredRecord[];
  /** Set if an earlier driver ended the turn: only the work after the turn remains. */
  ended: TurnEnd | null;
}

/** The turn has the id of its run, which identifies the records of this run. */
export async function readHistory(
  { run, agent, key }: ActiveRun,
  { store, db }: { store: SessionStore; db: Kysely<Tables> },
  frameWriter: FrameWriter,
): Promise<RunHistory> {
  const threadId = threadOf(agent.id);
  const { state, records: all } = await readThread(store, threadId);
  const records = ofRun(all, run.id);
  for (const stored of [...all.slice(0, 1), ...records]) frameWriter.recall(threadId, stored);
  const open = openCommands(records);
  if (open.size > 0) {
    const printed = await readPrinted(db, { key, runId: run.id }, [...open.keys()]);
    for (const [callId, read] of open) frameWriter.recallOutput(callId, printed.get(callId) ?? "", read);
  }
  return { state, records, ended: endOf(records, run.id) };
}

/** Commands that may still run where an earlier driver has started them, and what calls have returned of their output. */
function openCommands(records: StoredRecord[]): Map<string, string> {
  const open = new Map<string, string>();
  const sessions = new Map<number, string>();
  for (const { record } of records) {
    if (record.type === "tool.begun" && record.name === "exec_command") open.set(record.callId, "");
    if (record.type !== "tool.settled") continue;
    const { callId, outcome } = record;
    const { detail } = outcome;
    if (detail.kind === "command" && detail.sessionId !== undefined) {
      sessions.set(detail.sessionId, callId);
      open.set(callId, detail.output);
    } else if (detail.kind === "input") {
      const command = sessions.get(detail.sessionId) ?? "";
      if (detail.running) open.set(command, (open.get(command) ?? "") + detail.output);
      else open.delete(command);
    } else open.delete(callId);
  }
  return open;
}

export interface TurnLogRequest {
  history: RunHistory;
  activeRun: ActiveRun;
  plan: RunPlan;
  turn: TurnSettings;
  assembly: RunAssembly;
  /** About the repositories, for a run that begins. */
  warnings: string[];
}

/** The log of the thread, in which the turn of this run has begun. */
export async function openTurnLog({
  history,
  activeRun,
  plan,
  turn,
  assembly,
  warnings,
}: TurnLogRequest): Promise<Log> {
  const { run, agent } = activeRun;
  const threadId = threadOf(agent.id);
  const state = history.state.seq === 0 ? emptyThread(threadId) : history.state;
  const log = assembly.openLog(state, () => {});
  if (history.records.length > 0) await log.write(sandboxNote(assembly));
  else
    await log.write(
      ...(await serviceTurnRecords(state, {
        runId: run.id,
        threadId,
        settings: turn,
        mode: run.request.mode,
        prompt: run.request.prompt,
        assembly,
        traits: {
          freeformTools: plan.selectedModel.facts.freeform,
          stringEdits: !plan.selectedModel.facts.patches,
        },
        program: { name: "platform", version },
        context: forkContext(history, agent),
        // After a restore the agent has another directory with the same content.
        onMove: "announce",
      })),
      ...warnings.map(repositoryWarning),
    );
  return log;
}

/** For the first turn of a fork: the files may be others than those that the conversation speaks of. */
function forkContext({ state }: RunHistory, { settings: { fork, repos } }: ActiveRun["agent"]) {
  if (fork === undefined || state.account.turnId !== fork.runId) return undefined;
  const shared = repos.length === 0 ? "The workspace is empty." : "The workspace has what was committed until then.";
  const text = `You are in a copy of the conversation above, forked after its last message. ${shared} Files that were never committed, processes and sub-agents of the original are not here: look before you rely on them.`;
  return [{ role: "developer" as const, parts: [{ type: "text" as const, text }] }];
}

const repositoryWarning = (message: string): ThreadRecord => ({
  type: "noted",
  kind: "warning",
  data: { message, about: "repository" },
});

function ofRun(records: StoredRecord[], runId: string): StoredRecord[] {
  const first = records.findIndex(({ record }) => record.type === "turn.begun" && record.turnId === runId);
  return first === -1 ? [] : records.slice(first);
}

function endOf(records: StoredRecord[], runId: string): TurnEnd | null {
  for (const { record } of records) if (record.type === "turn.ended" && record.turnId === runId) return record.end;
  return null;
}
