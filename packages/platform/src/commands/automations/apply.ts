// `platform automations apply`
import { applyChanges } from "../../automations/as-code/index.ts";
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";
import { withAutomations } from "./automations.ts";
import { describePlan, planDirectory, withoutDeletions } from "./files.ts";

export const run = (invocation: Invocation, program: Program): Promise<number> =>
  withAutomations(invocation, program, async ({ view }) => {
    const { teamId, changes } = await planDirectory({ invocation, program, view });
    await applyChanges({ ...view.platform, teamId, now: new Date() }, withoutDeletions(changes, invocation));
    program.print(`${describePlan(changes, invocation)}Applied.\n`);
    return 0;
  });
