// The log of a run, and the progress of its replies, as frames of its stream.

import type { ModelProgress, Progress, Scrub, StoredRecord } from "@agentcli/engine";
import { addUsage, callsOf, noUsage } from "@agentcli/engine";
import type { Block, RecordOf, Usage } from "@agentcli/protocol";
import { type StreamedText, streamedText } from "../streamed.ts";
import { type FrameGroup, update } from "./frames.ts";
import { type LiveOutput, liveOutput } from "./live-output.ts";
import { showNote } from "./notes.ts";
import { type ShownCall, showBegun, showSettled } from "./tool-calls.ts";

export interface RunStream {
  /** Frames of a record of the run's own thread. */
  record(stored: StoredRecord): FrameGroup[];
  /** Frames of a streaming reply; the record that follows is authoritative. */
  progress(progress: ModelProgress): FrameGroup[];
  /** Adds output of a running command. */
  print(output: Extract<Progress, { type: "output" }>): void;
  /** Output of a running command that an earlier driver has shown. */
  recallOutput(callId: string, shown: string, read?: string): void;
  /** Frames of the output that was added since. */
  printed(): FrameGroup[];
  /** Adds usage of a sub-agent that this turn pays for. */
  charge(usage: Usage): void;
}

interface Stream {
  threadId: string;
  usage: Usage;
  /** Number of replies in this run. */
  steps: number;
  /** What the current reply has streamed; null before its first delta. */
  streamed: { text: StreamedText; thinking: StreamedText } | null;
  lastAt: number;
  calls: Map<string, ShownCall>;
  output: LiveOutput;
}

/** Records are scrubbed already; streamed text is not. */
export function runStream(scrub: Scrub): RunStream {
  const stream: Stream = {
    threadId: "",
    usage: noUsage(),
    steps: 0,
    streamed: null,
    lastAt: 0,
    calls: new Map(),
    output: liveOutput(scrub),
  };
  return {
    record(stored) {
      const at = Date.parse(stored.at);
      const groups = project(stream, stored, at - stream.lastAt);
      stream.lastAt = at;
      return groups;
    },
    progress: (progress) => streaming(stream, progress, scrub),
    print: ({ callId, text }) => stream.output.add(callId, text),
    recallOutput: (callId, shown, read) => stream.output.recall(callId, shown, read),
    printed: () => stream.output.take(),
    charge(usage) {
      stream.usage = addUsage(stream.usage, usage);
    },
  };
}

function project(stream: Stream, { seq, record }: StoredRecord, sinceLastMs: number): FrameGroup[] {
  switch (record.type) {
    case "thread.created":
      stream.threadId = record.threadId;
      return [];
    case "turn.begun":
      Object.assign(stream, { usage: noUsage(), steps: 0, streamed: null });
      return [userMessage(stream, record)];
    case "model.replied":
      return replied(stream, seq, record, sinceLastMs);
    case "tool.begun":
      return showBegun(stream.calls, record);
    case "tool.settled":
      return [...stream.output.settle(record), ...showSettled(stream.calls, record)];
    case "context.compacted":
      stream.usage = addUsage(stream.usage, record.usage);
      return summarised(record.summary);
    case "turn.ended":
      stream.output.clear();
      return [[update({ type: "turn-ended", usage: turnUsage(stream.usage) })]];
    case "noted":
      return showNote(seq, record);
    case "input.added":
      return record.origin === "user" ? [userMessage(stream, record)] : [];
  }
}

function streaming(stream: Stream, progress: ModelProgress, scrub: Scrub): FrameGroup[] {
  if (progress.type === "retrying") {
    stream.streamed = null;
    return [];
  }
  if (!("delta" in progress) || progress.delta === "") return [];
  const begun = stepBegun(stream);
  const { text, thinking } = stream.streamed ?? { text: streamedText(scrub), thinking: streamedText(scrub) };
  stream.streamed = { text, thinking };
  if (progress.type === "reasoning") return [...begun, ...shown(thinkingFrames, thinking.add(progress.delta))];
  // The reasoning is complete: nothing of it needs to be held back any longer.
  const lastThinking = shown(thinkingFrames, thinking.rest(thinking.everything()));
  return [...begun, ...lastThinking, ...shown(messageFrames, text.add(progress.delta))];
}

const shown = (as: (text: string) => FrameGroup, text: string): FrameGroup[] => (text === "" ? [] : [as(text)]);

function stepBegun(stream: Stream): FrameGroup[] {
  return stream.streamed ? [] : [[update({ type: "step-started", stepId: stream.steps + 1 })]];
}

function replied(
  stream: Stream,
  seq: number,
  { blocks, usage }: RecordOf<"model.replied">,
  stepDurationMs: number,
): FrameGroup[] {
  const begun = stepBegun(stream);
  const rest = unstreamed(stream.streamed, blocks);
  const calls = callsOf(seq, blocks);
  for (const { callId, block } of calls) stream.calls.set(callId, { block, begun: null });
  Object.assign(stream, { streamed: null, steps: stream.steps + 1, usage: addUsage(stream.usage, usage) });
  return [
    ...begun,
    ...rest,
    ...(calls.length > 0 ? [[update({ type: "tool-requests-listed", callCount: calls.length })]] : []),
    [update({ type: "step-completed", stepId: stream.steps, stepDurationMs })],
  ];
}

/** The part of a reply that was not streamed, as after a crash, or from a model that does not stream. */
function unstreamed(streamed: Stream["streamed"], blocks: Block[]): FrameGroup[] {
  const text = blocks.flatMap((block) => (block.type === "message" ? block.text : [])).join("");
  const thinking = blocks.flatMap((block) => (block.type === "reasoning" ? block.summary : [])).join("\n");
  const missing = (whole: string, part?: StreamedText) => (part ? part.rest(whole) : whole);
  return [
    ...shown(thinkingFrames, missing(thinking, streamed?.thinking)),
    ...shown(messageFrames, missing(text, streamed?.text)),
  ];
}

function userMessage({ threadId }: Stream, { input }: RecordOf<"turn.begun" | "input.added">): FrameGroup {
  const text = input.flatMap((part) => (part.type === "text" ? part.text : [])).join("\n\n");
  return [update({ type: "user-message-appended", userMessage: { type: "user_message", session_id: threadId, text } })];
}

const summarised = (summary: string): FrameGroup[] => [
  [update({ type: "summary-started" })],
  [update({ type: "summary", summary })],
  [update({ type: "summary-completed" })],
];

const messageFrames = (text: string): FrameGroup => [
  { event: "assistant", data: { text } },
  update({ type: "text-delta", text }),
];

const thinkingFrames = (text: string): FrameGroup => [
  { event: "thinking", data: { text } },
  update({ type: "thinking-delta", text }),
];

/** Input here excludes cache reads and writes; the engine includes them. */
function turnUsage(usage: Usage) {
  const { inputTokens, cachedInputTokens, cacheWriteInputTokens, outputTokens, reasoningOutputTokens } = usage;
  return {
    inputTokens: Math.max(0, inputTokens - cachedInputTokens - cacheWriteInputTokens),
    outputTokens,
    cacheReadTokens: cachedInputTokens,
    cacheWriteTokens: cacheWriteInputTokens,
    reasoningTokens: reasoningOutputTokens,
  };
}
