// `platform automations enable`
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";
import { withAutomation } from "./automations.ts";

export const run = (invocation: Invocation, program: Program): Promise<number> =>
  withAutomation(invocation, program, async ({ automations }, automation) => {
    await automations.enable(automation);
    const planned = (await automations.firings(automation)).findLast(({ status }) => status === "planned");
    program.print(`${automation.name} is enabled.${planned ? ` It fires next at ${planned.plannedAt}.` : ""}\n`);
    return 0;
  });
