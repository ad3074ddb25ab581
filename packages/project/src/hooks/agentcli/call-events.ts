// Tool calls as events of the agentcli dialect.
import { type HookCall, type HookEvent, type HookPoint, mcpResult, outcomeText } from "@agentcli/engine/hooks";
import type { MakeEvent } from "../events.ts";
import { named } from "./tools.ts";

type PointOf<Kind extends HookPoint["kind"]> = Extract<HookPoint, { kind: Kind }>;

export const beforeCall = ({ call }: PointOf<"calling">, event: MakeEvent): HookEvent[] =>
  isPoll(call) ? [] : [event("PreToolUse", namesOf(call), toolFields(call))];

export function beforeApproval({ call }: PointOf<"needing-approval">, event: MakeEvent): HookEvent {
  const { tool_name, tool_input } = toolFields(call);
  return event("PermissionRequest", namesOf(call), { tool_name, tool_input });
}

export function afterCall({ call, outcome }: PointOf<"called">, event: MakeEvent): HookEvent[] {
  if (isPoll(call)) return [];
  const fields = { ...toolFields(call), tool_response: mcpResult(outcome) ?? outcomeText(outcome) };
  return [event("PostToolUse", namesOf(call), fields)];
}

function toolFields(call: HookCall) {
  const { name, input } = named(call);
  return { tool_name: name, tool_use_id: call.callId, tool_input: input };
}

const namesOf = (call: HookCall): string[] => {
  const { name, aliases } = named(call);
  return [name, ...aliases];
};

/** Waiting for a running command is not an event; sending input to it is. */
const isPoll = ({ name, args }: HookCall): boolean => name === "write_stdin" && !args.chars;
