// The notes that hooks leave in the log: which ran, and what follows from their answers.
import type { HookDefinition, NoteData, ThreadRecord } from "@agentcli/protocol";
import { truncateForModel } from "../output.ts";
import { textPart } from "../state/messages.ts";
import type { AgentIdentity } from "../thread-hooks.ts";
import type { HookResult } from "./combine.ts";
import type { HookPoint } from "./point.ts";
import type { HookHost } from "./port.ts";

export function notesOf({ definition, reaction, durationMs, charge }: HookResult, point: HookPoint): ThreadRecord[] {
  const isSkipped = reaction.status === "completed" && reaction.reason !== "";
  const ending = point.kind === "ending" || point.kind === "agent-ending";
  // A turn that is ending anyway ends as it is, unless the hook failed.
  const halts = reaction.stop !== undefined && (!ending || reaction.status === "failed");
  const context = point.kind === "agent-starting" ? undefined : reaction.context;
  const note = hookNote({
    ...identityOf(definition),
    status: isSkipped ? "skipped" : reaction.status,
    reason: reaction.reason,
    durationMs: Math.round(durationMs),
    ...(context ? { context: truncateForModel(context, definition.contextTokens) } : {}),
    ...(charge ? { usage: { ...charge.usage }, model: charge.model, costUsd: charge.costUsd } : {}),
    ...(halts ? { halt: `The ${definition.event} hook ended the turn: ${reaction.stop}` } : {}),
  });
  const { warning } = reaction;
  return warning ? [note, { type: "noted", kind: "warning", data: { message: warning } }] : [note];
}

export const skippedNote = ({ definition, reason }: HookHost["skipped"][number]): ThreadRecord =>
  hookNote({ ...identityOf(definition), status: "skipped", reason, durationMs: 0 });

export const promptedNote: ThreadRecord = { type: "noted", kind: "hook", data: { prompted: true } };

/** Pending context is sent with this request. */
export const continuationRecords = (reason: string, context: string[]): ThreadRecord[] => [
  hookNote({ continues: true }),
  { type: "input.added", origin: "hook", input: [...context, reason].map(textPart) },
];

/** Hooks of a sub-agent take effect in its own thread; that they ran is also noted in the main one. */
export function mirroredNotes(record: ThreadRecord, { id }: AgentIdentity): ThreadRecord[] {
  if (record.type !== "noted") return [];
  if (record.kind !== "hook") return [record];
  if (!("status" in record.data)) return [];
  const { event, source, key, status, reason, durationMs } = record.data;
  return [hookNote({ event, source, key, status, reason, durationMs, agentId: id })];
}

export function withoutHalt(record: ThreadRecord): ThreadRecord {
  if (record.type !== "noted" || record.kind !== "hook" || !("status" in record.data)) return record;
  const { halt: _, ...data } = record.data;
  return { ...record, data };
}

export function withoutEffect(record: ThreadRecord): ThreadRecord {
  if (record.type !== "noted" || record.kind !== "hook" || !("status" in record.data)) return record;
  const { halt: _, context: __, ...data } = record.data;
  return { ...record, data };
}

const hookNote = (data: NoteData<"hook">): ThreadRecord => ({ type: "noted", kind: "hook", data });

const identityOf = ({ event, source, key }: HookDefinition) => ({ event, source: source.kind, key });
