// Shows the plan of the model to the user.
import { textPart } from "../state/messages.ts";
import { builtIn } from "./tool.ts";

export const updatePlan = builtIn({
  name: "update_plan",
  description: "Show or update your plan as a list of steps. At most one step is in_progress.",
  onResume: "rerun",
  parallel: false,
  async run(args) {
    return {
      status: "completed",
      parts: [textPart("Plan updated")],
      detail: { kind: "plan", steps: args.plan },
    };
  },
});
