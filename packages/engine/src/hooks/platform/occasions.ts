// Moments as events of the platform dialect, with the payloads its hooks read.
import type { Facts, Moment, Occasion } from "../moment.ts";
import { calledOccasions, callOccasions, refusedOccasions } from "./call-occasions.ts";

export type Event = (event: string, subjects: string[] | null, fields: object) => Occasion;

// Over 60 lines because it is one table: a row for each moment.
export function platformOccasions(moment: Moment, facts: Facts): Occasion[] {
  const occasion: Event = (event, subjects, fields) => ({
    event,
    subjects,
    payload: { ...common(event, facts), ...fields },
  });
  switch (moment.kind) {
    case "session-started":
      if (moment.source === "compact") return [];
      return [occasion("sessionStart", null, { is_background_agent: false, composer_mode: "agent" })];
    case "prompted":
      return [occasion("beforeSubmitPrompt", ["UserPromptSubmit"], { prompt: moment.prompt, attachments: [] })];
    case "calling":
      return callOccasions(moment, facts, occasion);
    case "called":
      return calledOccasions(moment, facts, occasion);
    case "refused":
      return refusedOccasions(moment, facts, occasion);
    case "replied":
      return repliedOccasions(moment, occasion);
    case "compacting":
      return [occasion("preCompact", null, compactFields(moment))];
    case "ending":
      return [occasion("stop", ["Stop"], { status: "completed", loop_count: moment.continuations })];
    case "ended-badly":
      return [occasion("stop", ["Stop"], { status: moment.status, loop_count: 0 })];
    case "agent-ending":
      return [occasion("subagentStop", [moment.work.agent.type], agentStopFields(moment, facts))];
    case "agent-starting": {
      const { id, type, task } = moment.agent;
      return [
        occasion("subagentStart", [type], {
          subagent_id: id,
          subagent_type: type,
          task,
          parent_conversation_id: facts.sessionId,
          tool_call_id: null,
          subagent_model: facts.settings.model,
          is_parallel_worker: true,
        }),
      ];
    }
    case "session-ended": {
      const { status, durationMs, error } = moment;
      const fields = { reason: status, duration_ms: Math.round(durationMs), is_background_agent: false };
      const message = error === null ? {} : { error_message: error };
      return [occasion("sessionEnd", null, { ...fields, final_status: status, ...message })];
    }
    case "needing-approval":
    case "compacted":
      return [];
  }
}

function common(event: string, facts: Facts): Record<string, unknown> {
  return {
    conversation_id: facts.sessionId,
    generation_id: facts.turnId,
    model: facts.settings.model,
    hook_event_name: event,
    platform_version: facts.version,
    workspace_roots: [facts.projectRoot],
    user_email: null,
    transcript_path: facts.transcriptPath,
    session_id: facts.sessionId,
  };
}

function repliedOccasions({ text, thought, usage }: Extract<Moment, { kind: "replied" }>, occasion: Event): Occasion[] {
  const tokens = {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cache_read_tokens: usage.cachedInputTokens,
    cache_write_tokens: usage.cacheWriteInputTokens,
  };
  return [
    ...(thought ? [occasion("afterAgentThought", ["AgentThought"], { text: thought })] : []),
    ...(text ? [occasion("afterAgentResponse", ["AgentResponse"], { text, ...tokens })] : []),
  ];
}

const compactFields = ({ tokens, window, messages, first }: Extract<Moment, { kind: "compacting" }>) => ({
  trigger: "auto",
  context_usage_percent: window > 0 ? Math.round((tokens / window) * 100) : 0,
  context_tokens: tokens,
  context_window_size: window,
  message_count: messages,
  messages_to_compact: messages,
  is_first_compaction: first,
});

const agentStopFields = (
  { message, continuations, work }: Extract<Moment, { kind: "agent-ending" }>,
  { agentTranscriptPath }: Facts,
) => ({
  subagent_id: work.agent.id,
  subagent_type: work.agent.type,
  status: "completed",
  task: work.agent.task,
  description: work.agent.task.split("\n")[0] ?? "",
  summary: message,
  duration_ms: Math.round(work.durationMs),
  message_count: work.messages,
  tool_call_count: work.toolCalls,
  loop_count: continuations,
  modified_files: work.modifiedFiles,
  agent_transcript_path: agentTranscriptPath,
  parent_conversation_id: work.parentId,
});
