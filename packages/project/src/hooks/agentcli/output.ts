// The JSON a hook of the agentcli dialect may print, by event. Other members are an error.
export interface Output {
  continue?: boolean;
  stopReason?: string;
  suppressOutput?: boolean;
  systemMessage?: string;
  decision?: "approve" | "block";
  reason?: string;
  hookSpecificOutput?: {
    hookEventName?: string;
    additionalContext?: string;
    permissionDecision?: "allow" | "deny" | "ask";
    permissionDecisionReason?: string;
    updatedInput?: Record<string, unknown>;
    decision?: { behavior: "allow" | "deny"; message?: string };
  };
}

type Kind = "text" | "switch" | "table" | string[] | { [key: string]: Kind };

const everywhere: Record<string, Kind> = {
  continue: "switch",
  stopReason: "text",
  suppressOutput: "switch",
  systemMessage: "text",
};
const deciding: Record<string, Kind> = { decision: ["block"], reason: "text" };
const context: Record<string, Kind> = { additionalContext: "text" };

const specific = (event: string, fields: Record<string, Kind>): Record<string, Kind> => ({
  hookSpecificOutput: { hookEventName: [event], ...fields },
});

const shapes: Record<string, Record<string, Kind>> = {
  SessionStart: specific("SessionStart", context),
  UserPromptSubmit: { ...deciding, ...specific("UserPromptSubmit", context) },
  PreToolUse: {
    decision: ["block", "approve"],
    reason: "text",
    ...specific("PreToolUse", {
      ...context,
      permissionDecision: ["allow", "deny", "ask"],
      permissionDecisionReason: "text",
      updatedInput: "table",
    }),
  },
  PermissionRequest: specific("PermissionRequest", { decision: { behavior: ["allow", "deny"], message: "text" } }),
  PostToolUse: { ...deciding, ...specific("PostToolUse", context) },
  PreCompact: {},
  PostCompact: {},
  Stop: deciding,
  SubagentStop: deciding,
  SubagentStart: specific("SubagentStart", context),
};

/** A sentence about the first thing that is wrong; null if nothing is. */
export function outputProblem(output: object, event: string): string | null {
  return problemOf(output, { ...everywhere, ...shapes[event] }, "its output");
}

function problemOf(value: unknown, kind: Kind, where: string): string | null {
  if (Array.isArray(kind)) {
    return kind.includes(value as string) ? null : `${where} must be one of ${kind.join(", ")}`;
  }
  if (kind === "text") return typeof value === "string" ? null : `${where} must be text`;
  if (kind === "switch") return typeof value === "boolean" ? null : `${where} must be true or false`;
  if (!isTable(value)) return `${where} must be an object`;
  return typeof kind === "object" ? fieldProblem(value, kind, where) : null;
}

function fieldProblem(table: Record<string, unknown>, fields: Record<string, Kind>, where: string): string | null {
  for (const [key, value] of Object.entries(table)) {
    const kind = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (kind === undefined) return `${where} has an unknown key: ${key}`;
    const problem = value === null ? null : problemOf(value, kind, key);
    if (problem) return problem;
  }
  return null;
}

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
