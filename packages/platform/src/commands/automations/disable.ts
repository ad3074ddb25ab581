// `platform automations disable`
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";
import { withAutomation } from "./automations.ts";

export const run = (invocation: Invocation, program: Program): Promise<number> =>
  withAutomation(invocation, program, async ({ automations }, automation) => {
    await automations.disable(automation);
    program.print(`${automation.name} is disabled.\n`);
    return 0;
  });
