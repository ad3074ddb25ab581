// Exit codes and output of hooks of the platform dialect as reactions.
import {
  blocked,
  completed,
  failed,
  type HookAnswer,
  lastObject,
  parseObject,
  type Reaction,
} from "@agentcli/engine/hooks";
import type { HookDefinition } from "@agentcli/protocol";
import { type Output, outputProblem, withAliases } from "./output.ts";

export function readReaction(answer: HookAnswer, definition: HookDefinition): Reaction {
  switch (answer.kind) {
    case "ran":
      return readRun(answer, definition);
    case "judged": {
      const { ok, reason } = answer;
      const run = ok ? { exitCode: 0, stdout: "{}", stderr: "" } : { exitCode: 2, stdout: reason, stderr: reason };
      return readRun({ ...run, timedOut: false }, definition);
    }
    case "unclear":
      return unreadable(answer.reason, definition.event);
  }
}

type Ended = Pick<Extract<HookAnswer, { kind: "ran" }>, "exitCode" | "stdout" | "stderr" | "timedOut">;

function readRun(run: Ended, definition: HookDefinition): Reaction {
  const { event, timeoutMs } = definition;
  if (run.timedOut) return failed(`no answer within ${timeoutMs} ms`);
  if (run.exitCode === 2) return refuse(blockReason(run.stdout.trim(), run.stderr.trim()), event);
  if (run.exitCode !== 0) return failed(`exit code ${run.exitCode}${firstLine(run.stderr)}`);
  if (run.stdout.trim() === "") return quiet(event);
  const output = lastObject(run.stdout.trim());
  const problem = output === null ? "its output is not JSON" : outputProblem(output);
  if (output === null || problem !== null) return unreadable(problem ?? "", event);
  return react(withAliases(output, event), definition);
}

export const permissionEvents = new Set([
  "beforeShellExecution",
  "beforeMCPExecution",
  "beforeReadFile",
  "subagentStart",
  "preToolUse",
]);

const observing = /^(after|post|session|preCompact)/;

/** Observing hooks may print nothing; the others must answer. */
const quiet = (event: string): Reaction =>
  observing.test(event) || event === "stop" || event === "subagentStop" ? completed() : failed("it printed nothing");

const blockReason = (stdout: string, stderr: string): string =>
  stdout || (stderr ? `Hook blocked with message: ${stderr}` : "Hook blocked with exit code 2");

function refuse(reason: string, event: string): Reaction {
  if (permissionEvents.has(event)) return blocked(messageIn(reason) ?? reason);
  if (event === "beforeSubmitPrompt") return { status: "blocked", reason, stop: messageIn(reason) ?? reason };
  return { status: "blocked", reason };
}

/** A permission hook whose answer cannot be read has not allowed the call. */
const unreadable = (problem: string, event: string): Reaction =>
  permissionEvents.has(event) ? { ...failed(problem), block: problem } : failed(problem);

function react(output: Output, { event }: HookDefinition): Reaction {
  const texts = { context: output.additional_context, warning: output.user_message };
  const more = Object.fromEntries(Object.entries(texts).filter(([, text]) => text));
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
    return blocked(reason || "the hook asks for an approval and no user is present to give one");
  }
  return completed(output.updated_input ? { input: output.updated_input } : {});
}

/** A hook that blocks may print its reason as the dialect's JSON. */
function messageIn(text: string): string | undefined {
  const output = parseObject(text);
  const message = output?.agent_message ?? output?.user_message;
  return typeof message === "string" && message !== "" ? message : undefined;
}

const textsOf = (env: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)]));

const asText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

const firstLine = (text: string): string => {
  const line = text.trim().split("\n")[0] ?? "";
  return line && `: ${line.slice(0, 300)}`;
};
