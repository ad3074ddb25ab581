// Calls of the log as frames of a run's stream, under its public tool names.

import type { Json } from "@agentcli/engine";
import { agentToolNames, proposedEdits, readPaths } from "@agentcli/engine";
import type { CallBlock, Outcome, RecordOf } from "@agentcli/protocol";
import type { ToolCall } from "@agentcli/protocol/api";
import { diffOf } from "../diff.ts";
import { cut, type Fields, type FrameGroup, fieldsOf, maxMemberLength, textOf, todos, update } from "./frames.ts";
import { resultOf } from "./results.ts";

export interface ShownCall {
  block: CallBlock;
  begun: RecordOf<"tool.begun"> | null;
}

/** One call of the stream; a patch of several files is several. */
export interface PublicCall {
  callId: string;
  name: string;
  args: Json;
  /** Absent for tools that have no type among the updates. */
  toolCall?: ToolCall;
  /** Of an edit: what it changes. */
  diff?: string;
}

export function showBegun(calls: Map<string, ShownCall>, record: RecordOf<"tool.begun">): FrameGroup[] {
  const call = calls.get(record.callId);
  if (!call) return [];
  call.begun = record;
  return publicCalls(record).map((shown) => [
    { event: "tool_call", data: { callId: shown.callId, name: shown.name, status: "running", ...bounded(shown.args) } },
    ...(shown.toolCall
      ? [update({ type: "tool-call-started", ...ids(shown, call), toolCall: shortened(shown.toolCall) })]
      : []),
  ]);
}

export function showSettled(
  calls: Map<string, ShownCall>,
  { callId, outcome }: RecordOf<"tool.settled">,
): FrameGroup[] {
  const call = calls.get(callId);
  if (!call) return [];
  calls.delete(callId);
  const record = call.begun ?? { callId, name: call.block.name, args: argumentsOf(call.block) };
  return publicCalls(record).map((shown) => settled(shown, call, outcome));
}

function settled(shown: PublicCall, call: ShownCall, outcome: Outcome): FrameGroup {
  const isGood = outcome.status === "completed" || ranToItsEnd(outcome);
  const message = outcome.reason ?? textOf(outcome);
  const { callId, name } = shown;
  const toolCall = shown.toolCall && withResult(shown, outcome, isGood ? null : message);
  const result: Json = isGood ? { success: resultOf(shown, outcome) as Json } : { error: { message } };
  return [
    {
      event: "tool_call",
      data: { callId, name, status: isGood ? "completed" : "error", ...bounded(shown.args, result) },
    },
    ...(toolCall ? [update({ type: "tool-call-completed", ...ids(shown, call), toolCall })] : []),
  ];
}

/** A command that exited with a code other than 0 has run: the reader decides what that means. */
const ranToItsEnd = ({ status, detail }: Outcome): boolean =>
  status === "failed" && detail.kind === "command" && detail.exitCode !== null;

function withResult(shown: PublicCall, outcome: Outcome, problem: string | null): ToolCall {
  const result =
    problem === null
      ? { status: "success", value: resultOf(shown, outcome) }
      : { status: "error", error: { message: problem } };
  return { ...(shown.toolCall && shortened(shown.toolCall)), result } as ToolCall;
}

type Begun = Pick<RecordOf<"tool.begun">, "callId" | "name" | "args" | "mcp">;

function publicCalls({ callId, name, args, mcp }: Begun): PublicCall[] {
  const fields = fieldsOf(args);
  const call = (shownAs: string, toolCall: ToolCall): PublicCall[] => [
    { callId, name: shownAs, args: toolCall.args as Json, toolCall },
  ];
  if (mcp) return call("mcp", { type: "mcp", args: { args, providerIdentifier: mcp.server, toolName: mcp.tool } });
  if (name === "spawn_agent") return call("task", { type: "task", args: task(fields) });
  if (agentToolNames.includes(name)) return [{ callId, name: "task", args }];
  const path = String(fields.path ?? ".");
  switch (name) {
    case "exec_command":
      return call("run_terminal_cmd", { type: "shell", args: shell(fields) });
    case "apply_patch":
    case "edit_file":
    case "edit_notebook":
      return patched(callId, name, fields);
    case "read_file":
      return call("read", { type: "read", args: { path: readPaths(fields)[0] ?? path } });
    case "list_dir":
      return call("ls", { type: "ls", args: { path } });
    case "grep_files":
      return call("grep", { type: "grep", args: grep(fields) });
    case "update_plan":
      return call("updateTodos", { type: "updateTodos", args: { todos: todos(fields.plan) } });
    default:
      return [{ callId, name, args }];
  }
}

/** Updates show the beginning of a text that is too long; simple frames omit it and flag that. */
const shortened = (toolCall: ToolCall): ToolCall =>
  ({ ...toolCall, args: withShortTexts(toolCall.args as Json) }) as ToolCall;

function withShortTexts(value: Json): Json {
  if (typeof value === "string") return cut(value);
  if (Array.isArray(value)) return value.map(withShortTexts);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withShortTexts(member)]));
}

function patched(callId: string, name: string, fields: Fields): PublicCall[] {
  const edits = proposedEdits(name, fields);
  // An invalid patch names no file; the call and its failure are shown anyway.
  if (edits.length === 0) return [{ callId, name: "edit", args: { input: String(fields.input ?? "") } }];
  return edits.map((edit, index) => {
    const id = edits.length === 1 ? callId : `${callId}/${index + 1}`;
    const { path } = edit;
    if (edit.kind === "add") {
      const args = { path, fileText: edit.content };
      return { callId: id, name: "write", args, toolCall: { type: "write", args } };
    }
    const args = { path };
    return edit.kind === "delete"
      ? { callId: id, name: "delete", args, toolCall: { type: "delete", args } }
      : { callId: id, name: "edit", args, toolCall: { type: "edit", args }, diff: diffOf(edit) };
  });
}

const shell = ({ cmd, workdir }: Fields) => ({
  command: String(cmd ?? ""),
  ...(typeof workdir === "string" && { workingDirectory: workdir }),
});

const grep = ({ pattern, path, include }: Fields) => ({
  pattern: String(pattern ?? ""),
  ...(typeof path === "string" && { path }),
  ...(typeof include === "string" && { glob: include }),
});

const task = ({ message, agent_type }: Fields) => {
  const prompt = typeof message === "string" ? message : "";
  const subagentType = typeof agent_type === "string" ? { subagentType: { kind: "custom", name: agent_type } } : {};
  return { description: (prompt.split("\n", 1)[0] ?? "").slice(0, 200), prompt, ...subagentType };
};

const ids = ({ callId }: PublicCall, { block }: ShownCall) => ({ callId, modelCallId: block.wireId });

/** Omits what is too large for a frame, and flags it. */
function bounded(args: Json, result?: Json) {
  const fits = (value: Json) => JSON.stringify(value).length <= maxMemberLength;
  const truncated = {
    ...(!fits(args) && { args: true as const }),
    ...(result !== undefined && !fits(result) && { result: true as const }),
  };
  return {
    ...(truncated.args ? {} : { args }),
    ...(result === undefined || truncated.result ? {} : { result }),
    ...(Object.keys(truncated).length > 0 && { truncated }),
  };
}

function argumentsOf(block: CallBlock): Json {
  if (block.form === "freeform") return { input: block.input };
  try {
    return JSON.parse(block.input);
  } catch {
    return {};
  }
}
