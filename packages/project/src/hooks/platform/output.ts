// The JSON a hook of the platform dialect may print.
export interface Output {
  permission?: "allow" | "deny" | "ask";
  continue?: boolean;
  user_message?: string;
  agent_message?: string;
  additional_context?: string;
  updated_input?: Record<string, unknown>;
  updated_mcp_tool_output?: unknown;
  followup_message?: string;
  env?: Record<string, unknown>;
}

/** Hooks written for the agentcli dialect are understood as well. */
export function withAliases(output: Record<string, unknown>, event: string): Output {
  const specific = isTable(output.hookSpecificOutput) ? output.hookSpecificOutput : {};
  const reason = event === "stop" || event === "subagentStop" ? output.reason : undefined;
  return {
    additional_context: output.additionalContext ?? specific.additionalContext,
    permission: specific.permissionDecision,
    agent_message: specific.permissionDecisionReason,
    updated_input: specific.updatedInput,
    ...(output.decision === "block" && reason !== undefined ? { followup_message: reason } : {}),
    ...output,
  } as Output;
}

const kinds: Record<string, (value: unknown) => boolean> = {
  permission: (value) => value === "allow" || value === "deny" || value === "ask",
  continue: (value) => typeof value === "boolean",
  user_message: (value) => typeof value === "string",
  agent_message: (value) => typeof value === "string",
  additional_context: (value) => typeof value === "string",
  followup_message: (value) => typeof value === "string",
  updated_input: isTable,
  env: isTable,
};

/** A sentence about the first thing that is wrong; null if nothing is. */
export function outputProblem(output: Record<string, unknown>): string | null {
  const wrong = Object.entries(kinds).find(([key, fits]) => output[key] !== undefined && !fits(output[key]));
  const specific = isTable(output.hookSpecificOutput) ? output.hookSpecificOutput.permissionDecision : undefined;
  if (wrong) return `${wrong[0]} of its output is invalid`;
  return specific === undefined || kinds.permission?.(specific) ? null : "permissionDecision of its output is unknown";
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
