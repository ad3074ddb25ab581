// Exit codes and output of hooks of the agentcli dialect as reactions.
import { blocked, completed, failed, type HookAnswer, type Reaction } from "@agentcli/engine/hooks";
import type { HookDefinition } from "@agentcli/protocol";
import { type Output, outputProblem } from "./output.ts";

export function readReaction(answer: HookAnswer, definition: HookDefinition): Reaction {
  switch (answer.kind) {
    case "ran":
      return readRun(answer, definition);
    case "judged": {
      const { ok, reason } = answer;
      return readRun({ exitCode: ok ? 0 : 2, stdout: "", stderr: ok ? "" : reason, timedOut: false }, definition);
    }
    case "unclear":
      return unreadable(answer.reason, definition.event);
  }
}

type Ended = Pick<Extract<HookAnswer, { kind: "ran" }>, "exitCode" | "stdout" | "stderr" | "timedOut">;

function readRun(run: Ended, definition: HookDefinition): Reaction {
  const { event, timeoutMs } = definition;
  if (event === "SessionEnd") return run.exitCode === 0 ? completed() : failed(`exit code ${run.exitCode}`);
  if (run.timedOut) return failed(`no answer within ${timeoutMs} ms`);
  if (run.exitCode === 2) return refusal(run.stderr.trim(), event);
  if (run.exitCode !== 0) return failed(`exit code ${run.exitCode}${firstLine(run.stderr)}`);
  return readOutput(run.stdout.trim(), definition);
}

function refusal(reason: string, event: string): Reaction {
  if (reason === "") return failed("exit code 2 without a reason on standard error");
  return refuse(reason, event);
}

/** Refusing a prompt ends its turn; elsewhere a refusal concerns one call or result. */
function refuse(reason: string, event: string): Reaction {
  if (event === "UserPromptSubmit") return { status: "blocked", reason, stop: reason };
  return canBlock.has(event) ? blocked(reason) : failed(`it cannot refuse ${event}: ${reason}`);
}

const canBlock = new Set(["PreToolUse", "PermissionRequest", "PostToolUse", "Stop", "SubagentStop"]);
const permissionEvents = new Set(["PreToolUse", "PermissionRequest"]);
const acceptsText = new Set(["SessionStart", "UserPromptSubmit"]);
const acceptsOnlyJson = new Set(["Stop", "SubagentStop"]);

function readOutput(stdout: string, { event }: HookDefinition): Reaction {
  if (stdout === "") return completed();
  if (!/^[{[]/.test(stdout)) {
    if (acceptsOnlyJson.has(event)) return failed("its output is not JSON");
    return acceptsText.has(event) ? completed({ context: stdout }) : completed();
  }
  const output = parse(stdout);
  const problem = output === null ? "its output is not a JSON object" : outputProblem(output, event);
  if (output !== null && problem === null) return react(output, event);
  return unreadable(problem ?? "", event);
}

/** A permission hook whose answer cannot be read has not allowed the call. */
const unreadable = (problem: string, event: string): Reaction =>
  permissionEvents.has(event) ? { ...failed(problem), block: problem } : failed(problem);

function parse(text: string): Output | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Output) : null;
  } catch {
    return null;
  }
}

function react(output: Output, event: string): Reaction {
  const specific = output.hookSpecificOutput ?? {};
  const texts = { context: specific.additionalContext || undefined, warning: output.systemMessage || undefined };
  const unsupported = unsupportedBy(output, event);
  if (unsupported) return { ...failed(`${unsupported} is not supported for ${event}`), warning: texts.warning };
  const verdict = output.continue === false ? stopping(output) : decision(output, event);
  return { ...verdict, ...definedOnly(texts) };
}

const stopping = ({ stopReason }: Output): Reaction => {
  const reason = stopReason || "the hook asked to stop";
  return { status: "blocked", reason, stop: reason };
};

function decision({ decision, reason, hookSpecificOutput }: Output, event: string): Reaction {
  const specific = hookSpecificOutput ?? {};
  if (specific.permissionDecision === "deny") return blocked(specific.permissionDecisionReason || noReason);
  if (specific.decision?.behavior === "deny") return blocked(specific.decision.message || noReason);
  if (decision === "block") {
    if (!reason && acceptsOnlyJson.has(event)) return failed("it blocks without a reason");
    return refuse(reason || noReason, event);
  }
  return completed({
    ...(specific.decision?.behavior === "allow" && { approves: true as const }),
    ...(specific.updatedInput && { input: specific.updatedInput }),
  });
}

const noReason = "no reason given";

/** Part of the dialect, and without meaning in an unattended run. */
function unsupportedBy(output: Output, event: string): string | null {
  const specific = output.hookSpecificOutput ?? {};
  if (event === "PreToolUse") {
    if (specific.permissionDecision === "ask") return "permissionDecision ask";
    if (output.decision === "approve") return "decision approve";
    if (specific.updatedInput && specific.permissionDecision !== "allow") return "updatedInput without allow";
    const flag = (["stopReason", "suppressOutput"] as const).find((name) => output[name] !== undefined);
    return output.continue === false ? "continue: false" : (flag ?? null);
  }
  return event === "PermissionRequest" && output.continue === false ? "continue: false" : null;
}

const firstLine = (text: string): string => {
  const line = text.trim().split("\n")[0] ?? "";
  return line && `: ${line.slice(0, 300)}`;
};

const definedOnly = <T extends object>(fields: T): Partial<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>;
