// A streamed reply as events of the Responses wire: numbered, with the whole response in the first and last event.
import type { ModelProgress, ModelReply } from "@agentcli/engine";
import type { Usage } from "@agentcli/protocol";
import type { InferenceResponse } from "@agentcli/protocol/api";
import { usageOf } from "./items.ts";
import { openOutput, type Send } from "./output.ts";

export interface ResponseEvent {
  type: string;
  sequence_number: number;
  [member: string]: unknown;
}

export interface ResponseEvents {
  /** Sends an in-progress event; the first call also sends the opening event. */
  stillWorking(): void;
  take(progress: ModelProgress): void;
  hasBegun(): boolean;
  /** Each of these sends the last event and returns the response it carries. */
  complete(reply: Extract<ModelReply, { kind: "replied" }>): InferenceResponse;
  breakOff(reason: string, usage: Usage): InferenceResponse;
  fail(error: { code: string; message: string }): InferenceResponse;
}

export interface ResponseHead {
  id: string;
  model: string;
  /** Seconds since 1970. */
  createdAt: number;
  maxOutputTokens: number | null;
}

export function openResponseEvents(head: ResponseHead, emit: (event: ResponseEvent) => void): ResponseEvents {
  let events = 0;
  const send: Send = (type, members) => emit({ type, ...members, sequence_number: events++ });
  const output = openOutput(head.id, send);
  const sendState = (type: string) => send(type, { response: responseOf(head, {}) });

  function stillWorking(): void {
    if (events === 0) sendState("response.created");
    sendState("response.in_progress");
  }

  function begin(): void {
    if (events === 0) stillWorking();
  }

  function end(type: string, ending: Partial<InferenceResponse>): InferenceResponse {
    const response = responseOf(head, { output: output.items(), ...ending });
    send(type, { response });
    return response;
  }

  return {
    stillWorking,
    hasBegun: () => events > 0,
    take(progress) {
      begin();
      output.take(progress);
    },
    complete({ blocks, usage, model }) {
      begin();
      output.complete(blocks);
      return end("response.completed", { status: "completed", model, usage: usageOf(usage) });
    },
    breakOff(reason, usage) {
      begin();
      output.breakOff();
      const details = { incomplete_details: { reason }, usage: usageOf(usage) };
      return end("response.incomplete", { status: "incomplete", ...details });
    },
    fail(error) {
      begin();
      return end("response.failed", { status: "failed", error });
    },
  };
}

function responseOf(
  { id, model, createdAt, maxOutputTokens }: ResponseHead,
  state: Partial<InferenceResponse>,
): InferenceResponse {
  return {
    id,
    object: "response",
    created_at: createdAt,
    status: "in_progress",
    background: false,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: maxOutputTokens,
    metadata: {},
    model,
    output: [],
    parallel_tool_calls: true,
    previous_response_id: null,
    store: false,
    temperature: null,
    text: { format: { type: "text" } },
    tool_choice: "auto",
    tools: [],
    top_p: null,
    truncation: "disabled",
    usage: null,
    ...state,
  };
}
