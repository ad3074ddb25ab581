// Calls as events of the platform dialect: one for every tool, and one more for what the tool does.
import type { McpOrigin, Outcome } from "@agentcli/protocol";
import type { Call, Facts, Moment, Occasion } from "../moment.ts";
import { mcpResult, textOf } from "../outcome-text.ts";
import type { Event } from "./occasions.ts";
import { editsOf, namedCalls, placeOf, replacements } from "./tools.ts";

type MomentOf<Kind extends Moment["kind"]> = Extract<Moment, { kind: Kind }>;

export function callOccasions({ call, content, said }: MomentOf<"calling">, facts: Facts, occasion: Event): Occasion[] {
  return [
    ...each(call, facts).map(({ name, fields }) => occasion("preToolUse", [name], { ...fields, agent_message: said })),
    ...particular(call, content, facts, occasion),
  ];
}

/** What is about to happen, where the dialect has an event of its own for it. */
function particular(call: Call, content: string | null, facts: Facts, occasion: Event): Occasion[] {
  const { settings } = facts;
  if (call.mcp) {
    const fields = { ...serverFields(call, call.mcp), ...placeFields(call.mcp, facts) };
    return [occasion("beforeMCPExecution", [`MCP:${call.mcp.tool}`], fields)];
  }
  if (call.name === "exec_command") {
    const command = String(call.args.cmd);
    const cwd = placeOf(call.args.workdir, settings.cwd);
    const fields = { command, cwd, sandbox: settings.sandbox !== "danger-full-access" };
    return [occasion("beforeShellExecution", [command], fields)];
  }
  if (call.name === "read_file" || call.name === "view_image") {
    const file_path = placeOf(call.args.path, settings.cwd);
    return [occasion("beforeReadFile", ["Read"], { file_path, content: content ?? "", attachments: [] })];
  }
  return [];
}

export function calledOccasions(moment: MomentOf<"called">, facts: Facts, occasion: Event): Occasion[] {
  const { call, outcome, durationMs } = moment;
  const duration = Math.round(durationMs);
  if (outcome.status !== "completed" && !isFinishedCommand(outcome)) {
    const result = mcpResult(outcome);
    const error_message = result ? textOf(outcome) : (outcome.reason ?? textOf(outcome));
    const failure_type = error_message.includes("time limit") ? "timeout" : "error";
    const failure = { error_message, failure_type, duration, is_interrupt: false };
    return [
      ...failures(call, failure, facts, occasion),
      // A server that answers with an error has been executed.
      ...(result ? particularAfter(moment, facts, occasion) : []),
    ];
  }
  const tool_output = JSON.stringify(outputOf(outcome));
  const after = each(call, facts).map(({ name, fields }) =>
    occasion("postToolUse", [name], { ...fields, tool_output, duration }),
  );
  return [...after, ...particularAfter(moment, facts, occasion)];
}

function particularAfter({ call, outcome, durationMs }: MomentOf<"called">, facts: Facts, occasion: Event): Occasion[] {
  const { settings } = facts;
  const duration = Math.round(durationMs);
  if (call.mcp) {
    const { mcp_server_url } = placeFields(call.mcp, facts);
    const result_json = JSON.stringify(mcpResult(outcome) ?? outcome.parts);
    const fields = {
      ...serverFields(call, call.mcp),
      ...(mcp_server_url && { mcp_server_url }),
      result_json,
      duration,
    };
    return [occasion("afterMCPExecution", [`MCP:${call.mcp.tool}`], fields)];
  }
  if (call.name === "exec_command") {
    const command = String(call.args.cmd);
    const output = outcome.detail.kind === "command" ? outcome.detail.output : textOf(outcome);
    const sandbox = settings.sandbox !== "danger-full-access";
    return [occasion("afterShellExecution", [command], { command, output, duration, sandbox })];
  }
  if (call.name !== "apply_patch") return [];
  return editsOf(call, settings.cwd)
    .filter(({ edit }) => edit.kind !== "delete")
    .map(({ path, edit }) => occasion("afterFileEdit", ["Write"], { file_path: path, edits: replacements(edit) }));
}

export function refusedOccasions({ call, reason }: MomentOf<"refused">, facts: Facts, occasion: Event): Occasion[] {
  const fields = { error_message: reason, failure_type: "permission_denied", duration: 0, is_interrupt: false };
  return failures(call, fields, facts, occasion);
}

const failures = (call: Call, more: object, facts: Facts, occasion: Event): Occasion[] =>
  each(call, facts).map(({ name, fields }) => occasion("postToolUseFailure", [name], { ...fields, ...more }));

const each = (call: Call, { settings }: Facts) =>
  namedCalls(call, settings.cwd).map(({ name, input }) => ({
    name,
    fields: { tool_name: name, tool_input: input, tool_use_id: call.callId, cwd: settings.cwd },
  }));

/** A command that ran to its end has an output, whatever its exit code says. */
const isFinishedCommand = ({ detail }: Outcome): boolean => detail.kind === "command" && detail.exitCode !== null;

function outputOf(outcome: Outcome): object {
  const { detail } = outcome;
  if (detail.kind === "command") return { output: detail.output, exitCode: detail.exitCode };
  return mcpResult(outcome) ?? { output: textOf(outcome) };
}

const serverFields = ({ args }: Call, { server, tool }: McpOrigin) => ({
  tool_name: tool,
  tool_input: JSON.stringify(args),
  mcp_server_name: server,
});

function placeFields(
  { server }: McpOrigin,
  { servers }: Facts,
): Partial<Record<"url" | "mcp_server_url" | "command", string>> {
  const place = servers[server];
  if (place === undefined) return {};
  return "url" in place ? { ...place, mcp_server_url: place.url } : place;
}
