// One event of a run's stream as a frame. What a newer platform adds is left out; what is not JSON is a broken stream.
import type { InteractionUpdate, StreamFrame } from "@agentcli/protocol/api";
import { fieldsOf } from "./refusal.ts";
import type { ServerEvent } from "./sse.ts";

export type { StreamFrame };

/** Null for what this package does not know. Throws where the data is not JSON. */
export function readFrame({ event, data }: Pick<ServerEvent, "event" | "data">): StreamFrame | null {
  const fields = fieldsOf(JSON.parse(data));
  const isKnown = Object.hasOwn(frames, event) && frames[event as StreamFrame["event"]](fields);
  return isKnown ? ({ event, data: inner(event, fields) } as StreamFrame) : null;
}

type Fields = Record<string, unknown>;
type Test = (fields: Fields) => boolean;

const isText = (value: unknown): boolean => typeof value === "string";
const isNumber = (value: unknown): boolean => typeof value === "number";
const isAbsentOr = (test: (value: unknown) => boolean, value: unknown): boolean => value === undefined || test(value);
const hasText: Test = ({ text }) => isText(text);
const hasCall: Test = ({ callId, toolCall }) => isText(callId) && isText(fieldsOf(toolCall).type);
const anything: Test = () => true;

const statuses = new Set<unknown>(["CREATING", "RUNNING", "FINISHED", "ERROR", "CANCELLED", "EXPIRED"]);
const callStatuses = new Set<unknown>(["running", "completed", "error"]);

const frames: Record<StreamFrame["event"], Test> = {
  status: ({ status }) => statuses.has(status),
  assistant: hasText,
  thinking: hasText,
  tool_call: (fields) => isCall(callIn(fields)),
  interaction_update: (fields) => isUpdate(fields),
  heartbeat: anything,
  result: ({ status, text, durationMs, error, git }) =>
    statuses.has(status) &&
    isAbsentOr(isText, text) &&
    isAbsentOr(isNumber, durationMs) &&
    isAbsentOr((value) => isText(fieldsOf(value).message), error) &&
    isAbsentOr((value) => Array.isArray(fieldsOf(value).branches), git),
  error: ({ code, message }) => isText(code) && isText(message),
  done: anything,
};

const updates: Record<InteractionUpdate["type"], Test> = {
  "text-delta": hasText,
  "thinking-delta": hasText,
  "thinking-completed": ({ thinkingDurationMs }) => isNumber(thinkingDurationMs),
  "tool-call-started": hasCall,
  "tool-call-completed": hasCall,
  summary: ({ summary }) => isText(summary),
  "summary-started": anything,
  "summary-completed": anything,
  "shell-output-delta": ({ event }) => isText(fieldsOf(event).callId) && isText(fieldsOf(fieldsOf(event).value).data),
  "turn-ended": ({ usage }) => isAbsentOr(isUsage, usage),
  "step-started": ({ stepId }) => isNumber(stepId),
  "step-completed": ({ stepId, stepDurationMs }) => isNumber(stepId) && isNumber(stepDurationMs),
  "tool-requests-listed": ({ callCount }) => isNumber(callCount),
  "user-message-appended": ({ userMessage }) => isText(fieldsOf(userMessage).text),
};

const isUpdate: Test = (fields) =>
  typeof fields.type === "string" &&
  Object.hasOwn(updates, fields.type) &&
  updates[fields.type as InteractionUpdate["type"]](fields);

const isCall: Test = ({ callId, name, status }) => isText(callId) && isText(name) && callStatuses.has(status);

const isUsage = (usage: unknown): boolean => {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = fieldsOf(usage);
  return [inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens].every(isNumber);
};

/** Some servers wrap a call in a `data` member. */
const callIn = (fields: Fields): Fields => (fields.callId === undefined ? fieldsOf(fields.data) : fields);

const inner = (event: string, fields: Fields): Fields => (event === "tool_call" ? callIn(fields) : fields);
