// Calls as events of the platform dialect: one for every tool, and one more for what the tool does.
import type { Outcome } from "@agentcli/protocol";
import { textOf } from "../agentcli/occasions.ts";
import type { Call, Facts, Moment, Occasion } from "../moment.ts";
import type { Event } from "./occasions.ts";
import { editsOf, mcpOf, namedCalls, placeOf, replacements } from "./tools.ts";

type MomentOf<Kind extends Moment["kind"]> = Extract<Moment, { kind: Kind }>;

export function callOccasions({ call, content, said }: MomentOf<"calling">, facts: Facts, occasion: Event): Occasion[] {
  return [
    ...each(call, facts).map(({ name, fields }) => occasion("preToolUse", [name], { ...fields, agent_message: said })),
    ...particular(call, content, facts, occasion),
  ];
}

/** What is about to happen, where the dialect has an event of its own for it. */
function particular(call: Call, content: string | null, { settings }: Facts, occasion: Event): Occasion[] {
  const mcp = mcpOf(call.name);
  if (mcp) {
    const fields = { tool_name: mcp.tool, tool_input: JSON.stringify(call.args), mcp_server_name: mcp.server };
    return [occasion("beforeMCPExecution", [`MCP:${mcp.tool}`], fields)];
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
    const error_message = outcome.reason ?? textOf(outcome);
    const failure_type = error_message.includes("time limit") ? "timeout" : "error";
    return failures(call, { error_message, failure_type, duration, is_interrupt: false }, facts, occasion);
  }
  const tool_output = JSON.stringify(outputOf(outcome));
  const after = each(call, facts).map(({ name, fields }) =>
    occasion("postToolUse", [name], { ...fields, tool_output, duration }),
  );
  return [...after, ...particularAfter(moment, facts, occasion)];
}

function particularAfter(
  { call, outcome, durationMs }: MomentOf<"called">,
  { settings }: Facts,
  occasion: Event,
): Occasion[] {
  const duration = Math.round(durationMs);
  const mcp = mcpOf(call.name);
  if (mcp) {
    const fields = { tool_name: mcp.tool, tool_input: JSON.stringify(call.args), mcp_server_name: mcp.server };
    const result_json = JSON.stringify(outcome.parts);
    return [occasion("afterMCPExecution", [`MCP:${mcp.tool}`], { ...fields, result_json, duration })];
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

const outputOf = (outcome: Outcome): object =>
  outcome.detail.kind === "command"
    ? { output: outcome.detail.output, exitCode: outcome.detail.exitCode }
    : { output: textOf(outcome) };
