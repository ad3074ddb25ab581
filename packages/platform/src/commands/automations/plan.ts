// `platform automations plan`
import { shownDocument } from "../../automations/as-code/index.ts";
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";
import { withAutomations } from "./automations.ts";
import { describePlan, planDirectory, withoutDeletions } from "./files.ts";

export const run = (invocation: Invocation, program: Program): Promise<number> =>
  withAutomations(invocation, program, async ({ view }) => {
    const { changes } = await planDirectory({ invocation, program, view });
    const planned = withoutDeletions(changes, invocation).filter(({ action }) => action !== "keep");
    const shown = planned.map((change) =>
      "document" in change ? { ...change, document: shownDocument(change.document) } : change,
    );
    program.print(invocation.has("json") ? `${JSON.stringify(shown)}\n` : describePlan(changes, invocation));
    return 0;
  });
