// What is written down about hooks: who was asked and what follows from it.
import type { HookDefinition, RecordOf, ThreadRecord } from "@agentcli/protocol";
import { truncateForModel } from "../output.ts";
import { textPart } from "../state.ts";
import type { AgentIdentity } from "./gate.ts";
import type { Moment } from "./moment.ts";
import type { HookHost } from "./port.ts";
import type { Answered } from "./reaction.ts";

type Data = RecordOf<"noted">["data"];

export function notesOf({ definition, reaction, durationMs, paid }: Answered, moment: Moment): ThreadRecord[] {
  const isSkipped = reaction.status === "completed" && reaction.reason !== "";
  const ending = moment.kind === "ending" || moment.kind === "agent-ending";
  // What stops a turn that wants to end lets it end, unless nobody knows what the hook wanted.
  const halts = reaction.stop !== undefined && (!ending || reaction.status === "failed");
  const told = moment.kind === "agent-starting" ? undefined : reaction.context;
  const note = hookNote({
    ...identityOf(definition),
    status: isSkipped ? "skipped" : reaction.status,
    reason: reaction.reason,
    durationMs: Math.round(durationMs),
    ...(told ? { context: truncateForModel(told, definition.contextTokens) } : {}),
    ...(paid ? { usage: { ...paid.usage }, model: paid.model, costUsd: paid.costUsd } : {}),
    ...(halts ? { halt: `The ${definition.event} hook ended the turn: ${reaction.stop}` } : {}),
  });
  const { warning } = reaction;
  return warning ? [note, { type: "noted", kind: "warning", data: { message: warning } }] : [note];
}

export const skippedNote = ({ definition, reason }: HookHost["skipped"][number]): ThreadRecord =>
  hookNote({ ...identityOf(definition), status: "skipped", reason, durationMs: 0 });

export const promptedNote: ThreadRecord = { type: "noted", kind: "hook", data: { prompted: true } };

/** What was to be told with the next request is told with this one. */
export const goOn = (reason: string, context: string[]): ThreadRecord[] => [
  hookNote({ continues: true }),
  { type: "input.added", origin: "hook", input: [...context, reason].map(textPart) },
];

/** What hooks of a sub-agent say takes effect in its own thread; that they were asked is seen in the session as well. */
export function asSeenOutside(record: ThreadRecord, { id }: AgentIdentity): ThreadRecord[] {
  if (record.type !== "noted") return [];
  if (record.kind !== "hook") return [record];
  const { event, source, key, status, reason, durationMs } = record.data;
  if (event === undefined || source === undefined || key === undefined || status === undefined) return [];
  return [hookNote({ event, source, key, status, reason: reason ?? "", durationMs: durationMs ?? 0, agentId: id })];
}

export const withoutHalt = (record: ThreadRecord): ThreadRecord => without(["halt"], record);

export const withoutEffect = (record: ThreadRecord): ThreadRecord => without(["halt", "context"], record);

function without(keys: string[], record: ThreadRecord): ThreadRecord {
  if (record.type !== "noted") return record;
  const data = Object.fromEntries(Object.entries(record.data).filter(([key]) => !keys.includes(key)));
  return { ...record, data };
}

const hookNote = (data: Data): ThreadRecord => ({ type: "noted", kind: "hook", data });

const identityOf = ({ event, source, key }: HookDefinition) => ({ event, source: source.kind, key });
