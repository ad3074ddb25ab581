// Moments as events of the agentcli dialect, with the payloads its hooks read.
import type { Call, Facts, Moment, Occasion } from "../moment.ts";
import { mcpResult, textOf } from "../outcome-text.ts";
import { named } from "./tools.ts";

// Over 60 lines because it is one table: a row for each moment.
export function agentcliOccasions(moment: Moment, facts: Facts): Occasion[] {
  const occasion = (event: string, subjects: string[] | null, fields: object): Occasion[] => [
    { event, subjects, payload: { ...common(event, facts), ...fields } },
  ];
  switch (moment.kind) {
    case "session-started":
      return occasion("SessionStart", [moment.source], { source: moment.source });
    case "prompted":
      return occasion("UserPromptSubmit", null, { prompt: moment.prompt });
    case "calling":
      if (isPoll(moment.call)) return [];
      return occasion("PreToolUse", namesOf(moment.call), toolFields(moment.call));
    case "needing-approval": {
      const { tool_name, tool_input } = toolFields(moment.call);
      return occasion("PermissionRequest", namesOf(moment.call), { tool_name, tool_input });
    }
    case "called": {
      const { call, outcome } = moment;
      if (isPoll(call)) return [];
      const fields = { ...toolFields(call), tool_response: mcpResult(outcome) ?? textOf(outcome) };
      return occasion("PostToolUse", namesOf(call), fields);
    }
    case "compacting":
      return occasion("PreCompact", ["auto"], { trigger: "auto" });
    case "compacted":
      return occasion("PostCompact", ["auto"], { trigger: "auto" });
    case "ending":
      return occasion("Stop", null, stopFields(moment));
    case "agent-ending": {
      const fields = { ...stopFields(moment), agent_transcript_path: facts.agentTranscriptPath };
      return occasion("SubagentStop", [moment.work.agent.type], fields);
    }
    case "agent-starting": {
      const { id, type } = moment.agent;
      return occasion("SubagentStart", [type], { agent_id: id, agent_type: type });
    }
    case "session-ended":
      return occasion("SessionEnd", ["other"], { reason: "other" });
    case "refused":
    case "replied":
    case "ended-badly":
      return [];
  }
}

/** In the order hooks have always had them. */
function common(event: string, facts: Facts): Record<string, unknown> {
  const { sessionId, turnId, transcriptPath, settings, agent } = facts;
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

function toolFields(call: Call) {
  const { name, input } = named(call);
  return { tool_name: name, tool_use_id: call.callId, tool_input: input };
}

const namesOf = (call: Call): string[] => {
  const { name, aliases } = named(call);
  return [name, ...aliases];
};

/** Waiting for a command is nothing new; typing into it is. */
const isPoll = ({ name, args }: Call): boolean => name === "write_stdin" && !args.chars;

const stopFields = ({ message, continuations }: { message: string; continuations: number }) => ({
  stop_hook_active: continuations > 0,
  last_assistant_message: message,
});
