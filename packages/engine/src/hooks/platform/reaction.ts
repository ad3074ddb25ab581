// What a hook of the platform dialect meant by its exit code and its output.
import type { HookDefinition } from "@agentcli/protocol";
import { lastObject, parseObject } from "../last-object.ts";
import { blocked, completed, failed, type Reaction, type ReadReaction } from "../reaction.ts";

export const readPlatformReaction: ReadReaction = (run, definition) => {
  const { event, timeoutMs } = definition;
  if (run.timedOut) return failed(`no answer within ${timeoutMs} ms`);
  if (run.exitCode === 2) return refuse(blockReason(run.stdout.trim(), run.stderr.trim()), event);
  if (run.exitCode !== 0) return failed(`exit code ${run.exitCode}${firstLine(run.stderr)}`);
  if (run.stdout.trim() === "") return quiet(event);
  const output = lastObject(run.stdout.trim());
  const problem = output === null ? "its output is not JSON" : outputProblem(output);
  if (output === null || problem !== null) return notUnderstood(problem ?? "", event);
  return react(withAliases(output, event), definition);
};

const permissionEvents = new Set([
  "beforeShellExecution",
  "beforeMCPExecution",
  "beforeReadFile",
  "subagentStart",
  "preToolUse",
]);

const observing = /^(after|post|session|preCompact)/;

/** Those that only look on have nothing to say; from the others an answer is expected. */
const quiet = (event: string): Reaction =>
  observing.test(event) || event === "stop" || event === "subagentStop" ? completed() : failed("it printed nothing");

const blockReason = (stdout: string, stderr: string): string =>
  stdout || (stderr ? `Hook blocked with message: ${stderr}` : "Hook blocked with exit code 2");

function refuse(reason: string, event: string): Reaction {
  if (permissionEvents.has(event)) return blocked(messageIn(reason) ?? reason);
  if (event === "beforeSubmitPrompt") return { status: "blocked", reason, stop: messageIn(reason) ?? reason };
  return { status: "blocked", reason };
}

/** A guard whose answer nobody understands has not said yes. */
export const notUnderstood = (problem: string, event: string): Reaction =>
  permissionEvents.has(event) ? { ...failed(problem), block: problem } : failed(problem);

interface Output {
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

function react(output: Output, { event }: HookDefinition): Reaction {
  const said = { context: output.additional_context, warning: output.user_message };
  const more = Object.fromEntries(Object.entries(said).filter(([, text]) => text));
  if (permissionEvents.has(event)) return { ...permission(output, event), ...more };
  if (event === "beforeSubmitPrompt" && output.continue === false) {
    const reason = output.user_message || "the hook does not let this prompt through";
    return { status: "blocked", reason, stop: reason };
  }
  if (event === "stop" || event === "subagentStop") {
    return output.followup_message ? blocked(output.followup_message) : completed(more);
  }
  return completed({
    ...more,
    ...(event === "sessionStart" && output.env ? { environment: textsOf(output.env) } : {}),
    ...(event === "postToolUse" && output.updated_mcp_tool_output !== undefined
      ? { output: asText(output.updated_mcp_tool_output) }
      : {}),
  });
}

function permission(output: Output, event: string): Reaction {
  const reason = output.agent_message || output.user_message;
  if (output.permission === "deny") return blocked(reason || "no reason given");
  if (output.permission === "ask" && event !== "preToolUse") {
    return blocked(reason || "the hook asks for an approval and nobody is here to give one");
  }
  return completed(output.updated_input ? { input: output.updated_input } : {});
}

/** Hooks written for a neighbouring tool say the same in other words. */
function withAliases(output: Record<string, unknown>, event: string): Output {
  const specific = isTable(output.hookSpecificOutput) ? output.hookSpecificOutput : {};
  const sent = event === "stop" || event === "subagentStop" ? output.reason : undefined;
  return {
    additional_context: output.additionalContext ?? specific.additionalContext,
    permission: specific.permissionDecision,
    agent_message: specific.permissionDecisionReason,
    updated_input: specific.updatedInput,
    ...(output.decision === "block" && sent !== undefined ? { followup_message: sent } : {}),
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

function outputProblem(output: Record<string, unknown>): string | null {
  const wrong = Object.entries(kinds).find(([key, fits]) => output[key] !== undefined && !fits(output[key]));
  const specific = isTable(output.hookSpecificOutput) ? output.hookSpecificOutput.permissionDecision : undefined;
  if (wrong) return `${wrong[0]} of its output is not what it must be`;
  return specific === undefined || kinds.permission?.(specific) ? null : "permissionDecision of its output is unknown";
}

/** A hook that blocks may print its reason as the dialect's JSON. */
function messageIn(text: string): string | undefined {
  const output = parseObject(text);
  const said = output?.agent_message ?? output?.user_message;
  return typeof said === "string" && said !== "" ? said : undefined;
}

const textsOf = (env: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)]));

const asText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

const firstLine = (text: string): string => {
  const line = text.trim().split("\n")[0] ?? "";
  return line && `: ${line.slice(0, 300)}`;
};

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
