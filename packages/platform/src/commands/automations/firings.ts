// `platform automations firings`
import { firingWords, outcomeWords } from "@agentcli/protocol/api";
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";
import { printRows, withAutomation } from "./automations.ts";

export const run = (invocation: Invocation, program: Program): Promise<number> =>
  withAutomation(invocation, program, async ({ automations }, automation) =>
    printRows({ invocation, program }, await automations.firings(automation), (firing) => {
      const { id, plannedAt, source, status, reason, agentId, runStatus } = firing;
      const outcome = [agentId, runStatus && outcomeWords[runStatus], reason]
        .filter((part) => part !== undefined)
        .join("  ");
      return `${plannedAt}  ${source}  ${firingWords[status]}  ${id}${outcome && `  ${outcome}`}`;
    }),
  );
