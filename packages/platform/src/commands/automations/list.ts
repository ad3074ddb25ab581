// `platform automations list`
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";
import { printRows, withAutomations } from "./automations.ts";

export const run = (invocation: Invocation, program: Program): Promise<number> =>
  withAutomations(invocation, program, async ({ automations }) =>
    printRows({ invocation, program }, await automations.list(), (automation) => {
      const { id, name, team, scope, enabled, disabledReason, disabledAt, nextFiringAt } = automation;
      const state = enabled ? "enabled" : `disabled since ${disabledAt}: ${disabledReason}`;
      const next = nextFiringAt ? `  next ${nextFiringAt}` : "";
      return `${id}  ${name}  ${team} (${scope})  ${state}${next}`;
    }),
  );
