// Tool calls as events of the platform dialect: one for every tool, and a second one for commands, files and MCP calls.

import { isEditTool, readPaths } from "@agentcli/engine";
import {
  type HookCall,
  type HookEvent,
  type HookPoint,
  mcpResult,
  outcomeText,
  type ThreadInfo,
} from "@agentcli/engine/hooks";
import type { McpOrigin, Outcome } from "@agentcli/protocol";
import type { MakeEvent } from "../events.ts";
import { absolutePath, editsOf, namedCalls, replacements } from "./tools.ts";

type PointOf<Kind extends HookPoint["kind"]> = Extract<HookPoint, { kind: Kind }>;

export function beforeCall(
  { call, content, reply }: PointOf<"calling">,
  thread: ThreadInfo,
  event: MakeEvent,
): HookEvent[] {
  return [
    ...each(call, thread).map(({ name, fields }) => event("preToolUse", [name], { ...fields, agent_message: reply })),
    ...specificBefore(call, content, thread, event),
  ];
}

/** The second event of a call, where the dialect has one for it. */
function specificBefore(call: HookCall, content: string | null, thread: ThreadInfo, event: MakeEvent): HookEvent[] {
  const { settings } = thread;
  if (call.mcp) {
    const fields = { ...serverFields(call, call.mcp), ...locationFields(call.mcp, thread) };
    return [event("beforeMCPExecution", [`MCP:${call.mcp.tool}`], fields)];
  }
  if (call.name === "exec_command") {
    const command = String(call.args.cmd);
    const cwd = absolutePath(call.args.workdir, settings.cwd);
    const fields = { command, cwd, sandbox: settings.sandbox !== "danger-full-access" };
    return [event("beforeShellExecution", [command], fields)];
  }
  if (call.name === "read_file" || call.name === "view_image") {
    // The content is that of all files of the call: a hook that looks for something in it finds it.
    return readPaths(call.args).map((path) => {
      const file_path = absolutePath(path, settings.cwd);
      return event("beforeReadFile", ["Read"], { file_path, content: content ?? "", attachments: [] });
    });
  }
  return [];
}

export function afterCall(point: PointOf<"called">, thread: ThreadInfo, event: MakeEvent): HookEvent[] {
  const { call, outcome, durationMs } = point;
  const duration = Math.round(durationMs);
  if (outcome.status !== "completed" && !isFinishedCommand(outcome)) {
    const result = mcpResult(outcome);
    const error_message = result ? outcomeText(outcome) : (outcome.reason ?? outcomeText(outcome));
    const failure_type = error_message.includes("time limit") ? "timeout" : "error";
    const failure = { error_message, failure_type, duration, is_interrupt: false };
    return [
      ...failures(call, failure, thread, event),
      // A server that answers with an error has run the tool.
      ...(result ? specificAfter(point, thread, event) : []),
    ];
  }
  const tool_output = JSON.stringify(outputOf(outcome));
  const after = each(call, thread).map(({ name, fields }) =>
    event("postToolUse", [name], { ...fields, tool_output, duration }),
  );
  return [...after, ...specificAfter(point, thread, event)];
}

function specificAfter(
  { call, outcome, durationMs }: PointOf<"called">,
  thread: ThreadInfo,
  event: MakeEvent,
): HookEvent[] {
  const { settings } = thread;
  const duration = Math.round(durationMs);
  if (call.mcp) {
    const { mcp_server_url } = locationFields(call.mcp, thread);
    const result_json = JSON.stringify(mcpResult(outcome) ?? outcome.parts);
    const fields = {
      ...serverFields(call, call.mcp),
      ...(mcp_server_url && { mcp_server_url }),
      result_json,
      duration,
    };
    return [event("afterMCPExecution", [`MCP:${call.mcp.tool}`], fields)];
  }
  if (call.name === "exec_command") {
    const command = String(call.args.cmd);
    const output = outcome.detail.kind === "command" ? outcome.detail.output : outcomeText(outcome);
    const sandbox = settings.sandbox !== "danger-full-access";
    return [event("afterShellExecution", [command], { command, output, duration, sandbox })];
  }
  if (!isEditTool(call.name)) return [];
  return editsOf(call, settings.cwd)
    .filter(({ edit }) => edit.kind !== "delete")
    .map(({ path, edit }) => event("afterFileEdit", ["Write"], { file_path: path, edits: replacements(edit) }));
}

export function afterRefusal({ call, reason }: PointOf<"refused">, thread: ThreadInfo, event: MakeEvent): HookEvent[] {
  const fields = { error_message: reason, failure_type: "permission_denied", duration: 0, is_interrupt: false };
  return failures(call, fields, thread, event);
}

const failures = (call: HookCall, more: object, thread: ThreadInfo, event: MakeEvent): HookEvent[] =>
  each(call, thread).map(({ name, fields }) => event("postToolUseFailure", [name], { ...fields, ...more }));

const each = (call: HookCall, { settings }: ThreadInfo) =>
  namedCalls(call, settings.cwd).map(({ name, input }) => ({
    name,
    fields: { tool_name: name, tool_input: input, tool_use_id: call.callId, cwd: settings.cwd },
  }));

/** A command that ran to its end has an output, whatever its exit code. */
const isFinishedCommand = ({ detail }: Outcome): boolean => detail.kind === "command" && detail.exitCode !== null;

function outputOf(outcome: Outcome): object {
  const { detail } = outcome;
  if (detail.kind === "command") return { output: detail.output, exitCode: detail.exitCode };
  return mcpResult(outcome) ?? { output: outcomeText(outcome) };
}

const serverFields = ({ args }: HookCall, { server, tool }: McpOrigin) => ({
  tool_name: tool,
  tool_input: JSON.stringify(args),
  mcp_server_name: server,
});

function locationFields(
  { server }: McpOrigin,
  { servers }: ThreadInfo,
): Partial<Record<"url" | "mcp_server_url" | "command", string>> {
  const location = servers[server];
  if (location === undefined) return {};
  return "url" in location ? { ...location, mcp_server_url: location.url } : location;
}
