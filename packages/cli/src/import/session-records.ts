// A conversation as the records of a thread. Its calls are shown to the model as they were made; none is made again.
import type { Scrub, StoredRecord } from "@agentcli/engine";
import type { Block, RecordOf, ThreadRecord, TurnSettings, Usage } from "@agentcli/protocol";
import type { Conversation, ImportedCall, ImportedTurn } from "./conversation.ts";

const noUsage: Usage = {
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 0,
  reasoningOutputTokens: 0,
};

/** Outputs beyond this keep their beginning and their end. */
const maxOutput = 32_768;

export interface ImportedThread {
  created: RecordOf<"thread.created">;
  settings: TurnSettings;
  scrub: Scrub;
}

export function sessionRecords({ turns, at, path }: Conversation, thread: ImportedThread): StoredRecord[] {
  const stored: StoredRecord[] = [];
  const add = (time: Date, record: ThreadRecord): void =>
    void stored.push({ seq: stored.length + 1, at: time.toISOString(), record });
  add(at, thread.created);
  add(at, { type: "noted", kind: "warning", data: { message: `This session was imported from ${path}.` } });
  turns.forEach((turn, index) => {
    addTurn(turn, {
      turnId: `imported-${index + 1}`,
      thread,
      add: (record) => add(turn.at, record),
      next: () => stored.length + 1,
    });
  });
  return stored;
}

interface Writer {
  turnId: string;
  thread: ImportedThread;
  add(record: ThreadRecord): void;
  /** The number of the next record, which is part of the ids of calls. */
  next(): number;
}

function addTurn({ prompt, steps }: ImportedTurn, { turnId, thread, add, next }: Writer): void {
  const { settings, scrub } = thread;
  add({ type: "turn.begun", turnId, input: [{ type: "text", text: scrub(prompt) }], settings });
  let blocks: Block[] = [];
  let last = "";
  const reply = () => {
    if (blocks.length > 0) add({ type: "model.replied", blocks, usage: noUsage, model: settings.model, costUsd: 0 });
    blocks = [];
  };
  for (const step of steps) {
    if (step.kind === "message") {
      last = scrub(step.text);
      blocks.push({ type: "message", text: last });
      continue;
    }
    const { id: wireId, name, form } = step;
    const callId = `${next()}.0`;
    blocks.push({ type: "call", wireId, name, form, input: scrub(step.input) });
    reply();
    add({ type: "tool.settled", callId, outcome: outcomeOf(step, scrub) });
  }
  reply();
  const end = last === "" ? ({ status: "cancelled", reason: "it has no answer" } as const) : null;
  add({ type: "turn.ended", turnId, end: end ?? { status: "completed", message: last } });
}

function outcomeOf({ output }: ImportedCall, scrub: Scrub): RecordOf<"tool.settled">["outcome"] {
  const detail = { kind: "none" } as const;
  if (output === null) {
    const text = "Outcome unknown: the session has no result of this call.";
    return { status: "interrupted", parts: [{ type: "text", text }], reason: text, detail };
  }
  const text = scrub(shortened(output.text));
  return { status: output.failed ? "failed" : "completed", parts: [{ type: "text", text }], detail };
}

function shortened(text: string): string {
  if (text.length <= maxOutput) return text;
  const half = maxOutput / 2;
  return `${text.slice(0, half)}\n[${text.length - maxOutput} characters were not taken over]\n${text.slice(-half)}`;
}
