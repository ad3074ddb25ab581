// `platform automations alerts`
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";
import { printRows, withAutomation } from "./automations.ts";

export const run = (invocation: Invocation, program: Program): Promise<number> =>
  withAutomation(invocation, program, async ({ automations }, automation) =>
    printRows({ invocation, program }, await automations.alerts(automation), ({ createdAt, kind, message }) =>
      [createdAt, kind, message].join("  "),
    ),
  );
