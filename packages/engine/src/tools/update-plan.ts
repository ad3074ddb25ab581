// Shows the plan of the model to the user.
import type { Outcome, ToolArguments } from "@agentcli/protocol";
import { textPart } from "../state/messages.ts";
import type {} from "./tool.ts";

export async function updatePlan(args: ToolArguments["update_plan"]): Promise<Outcome> {
  return {
    status: "completed",
    parts: [textPart("Plan updated")],
    detail: { kind: "plan", steps: args.plan },
  };
}
