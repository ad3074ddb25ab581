// Hook points as events of the platform dialect, with the payloads its hooks read.
import type { HookEvent, HookPoint, ThreadInfo } from "@agentcli/engine/hooks";
import type { MakeEvent } from "../events.ts";
import { afterCall, afterRefusal, beforeCall } from "./call-events.ts";

// Over 60 lines because it is one table: a row for each hook point.
export function platformEvents(point: HookPoint, thread: ThreadInfo): HookEvent[] {
  const event: MakeEvent = (name, subjects, fields) => ({
    event: name,
    subjects,
    payload: { ...common(name, thread), ...fields },
  });
  switch (point.kind) {
    case "session-started":
      if (point.source === "compact") return [];
      return [
        event("sessionStart", null, { is_background_agent: false, composer_mode: "agent", ...thread.sessionFields }),
      ];
    case "prompted":
      return [event("beforeSubmitPrompt", ["UserPromptSubmit"], { prompt: point.prompt, attachments: [] })];
    case "calling":
      return beforeCall(point, thread, event);
    case "called":
      return afterCall(point, thread, event);
    case "refused":
      return afterRefusal(point, thread, event);
    case "replied":
      return replyEvents(point, event);
    case "compacting":
      return [event("preCompact", null, compactFields(point))];
    case "ending":
      return [event("stop", ["Stop"], { status: "completed", loop_count: point.continuations })];
    case "ended-badly":
      return [event("stop", ["Stop"], { status: point.status, loop_count: 0 })];
    case "agent-ending":
      return [event("subagentStop", [point.activity.agent.type], agentStopFields(point, thread))];
    case "agent-starting": {
      const { id, type, task } = point.agent;
      return [
        event("subagentStart", [type], {
          subagent_id: id,
          subagent_type: type,
          task,
          parent_conversation_id: thread.sessionId,
          tool_call_id: null,
          subagent_model: thread.settings.model,
          is_parallel_worker: true,
        }),
      ];
    }
    case "session-ended": {
      const { status, durationMs, error } = point;
      const fields = { reason: status, duration_ms: Math.round(durationMs), is_background_agent: false };
      const message = error === null ? {} : { error_message: error };
      return [event("sessionEnd", null, { ...fields, final_status: status, ...message })];
    }
    case "needing-approval":
    case "compacted":
      return [];
  }
}

function common(event: string, thread: ThreadInfo): Record<string, unknown> {
  return {
    conversation_id: thread.sessionId,
    generation_id: thread.turnId,
    model: thread.settings.model,
    hook_event_name: event,
    platform_version: thread.version,
    workspace_roots: [thread.projectRoot],
    user_email: null,
    transcript_path: thread.transcriptPath,
    session_id: thread.sessionId,
  };
}

function replyEvents({ text, thought, usage }: Extract<HookPoint, { kind: "replied" }>, event: MakeEvent): HookEvent[] {
  const tokens = {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cache_read_tokens: usage.cachedInputTokens,
    cache_write_tokens: usage.cacheWriteInputTokens,
  };
  return [
    ...(thought ? [event("afterAgentThought", ["AgentThought"], { text: thought })] : []),
    ...(text ? [event("afterAgentResponse", ["AgentResponse"], { text, ...tokens })] : []),
  ];
}

const compactFields = ({ tokens, window, messages, first }: Extract<HookPoint, { kind: "compacting" }>) => ({
  trigger: "auto",
  context_usage_percent: window > 0 ? Math.round((tokens / window) * 100) : 0,
  context_tokens: tokens,
  context_window_size: window,
  message_count: messages,
  messages_to_compact: messages,
  is_first_compaction: first,
});

const agentStopFields = (
  { message, continuations, activity }: Extract<HookPoint, { kind: "agent-ending" }>,
  { agentTranscriptPath }: ThreadInfo,
) => ({
  subagent_id: activity.agent.id,
  subagent_type: activity.agent.type,
  status: "completed",
  task: activity.agent.task,
  description: activity.agent.task.split("\n")[0] ?? "",
  summary: message,
  duration_ms: Math.round(activity.durationMs),
  message_count: activity.messages,
  tool_call_count: activity.toolCalls,
  loop_count: continuations,
  modified_files: activity.modifiedFiles,
  agent_transcript_path: agentTranscriptPath,
  parent_conversation_id: activity.parentId,
});
