// `platform automations show`
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";
import { withAutomation } from "./automations.ts";

export const run = (invocation: Invocation, program: Program): Promise<number> =>
  withAutomation(invocation, program, async ({ automations }, automation) => {
    program.print(`${JSON.stringify(await automations.show(automation), null, 2)}\n`);
    return 0;
  });
