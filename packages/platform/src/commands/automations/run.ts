// `platform automations run`
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";
import { requireScheduler, withAutomation } from "./automations.ts";

export const run = (invocation: Invocation, program: Program): Promise<number> =>
  withAutomation(invocation, program, async ({ automations, settings }, automation) => {
    requireScheduler(settings);
    const { id } = await automations.requestRun(automation);
    program.print(`${id} is planned. Its run: platform automations firings ${JSON.stringify(automation.name)}\n`);
    return 0;
  });
