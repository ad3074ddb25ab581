// Hook points as events of the agentcli dialect, with the payloads its hooks read.
import type { HookEvent, HookPoint, ThreadInfo } from "@agentcli/engine/hooks";
import type { MakeEvent } from "../events.ts";
import { afterCall, beforeApproval, beforeCall } from "./call-events.ts";

// Over 60 lines because it is one table: a row for each hook point.
export function agentcliEvents(point: HookPoint, thread: ThreadInfo): HookEvent[] {
  const event: MakeEvent = (name, subjects, fields) => ({
    event: name,
    subjects,
    payload: { ...common(name, thread), ...fields },
  });
  switch (point.kind) {
    case "session-started":
      return [event("SessionStart", [point.source], { source: point.source })];
    case "prompted":
      return [event("UserPromptSubmit", null, { prompt: point.prompt })];
    case "calling":
      return beforeCall(point, event);
    case "needing-approval":
      return [beforeApproval(point, event)];
    case "called":
      return afterCall(point, event);
    case "compacting":
      return [event("PreCompact", ["auto"], { trigger: "auto" })];
    case "compacted":
      return [event("PostCompact", ["auto"], { trigger: "auto" })];
    case "ending":
      return [event("Stop", null, stopFields(point))];
    case "agent-ending": {
      const fields = { ...stopFields(point), agent_transcript_path: thread.agentTranscriptPath };
      return [event("SubagentStop", [point.activity.agent.type], fields)];
    }
    case "agent-starting": {
      const { id, type } = point.agent;
      return [event("SubagentStart", [type], { agent_id: id, agent_type: type })];
    }
    case "session-ended":
      return [event("SessionEnd", ["other"], { reason: "other" })];
    case "refused":
    case "replied":
    case "ended-badly":
      return [];
  }
}

/** The order of members is part of the format. */
function common(event: string, thread: ThreadInfo): Record<string, unknown> {
  const { sessionId, turnId, transcriptPath, settings, agent } = thread;
  const isOfSession = event === "SessionStart" || event === "SessionEnd";
  const permission_mode = settings.approval === "never" ? "bypassPermissions" : "default";
  return {
    session_id: sessionId,
    ...(isOfSession ? {} : { turn_id: turnId }),
    transcript_path: transcriptPath,
    cwd: settings.cwd,
    hook_event_name: event,
    ...(event === "SessionEnd" ? {} : { model: settings.model, permission_mode }),
    ...(agent ? { agent_id: agent.id, agent_type: agent.type } : {}),
  };
}

const stopFields = ({ message, continuations }: { message: string; continuations: number }) => ({
  stop_hook_active: continuations > 0,
  last_assistant_message: message,
});
