// `platform automations run`
import { CommandError } from "@agentcli/command-line";
import { listServers } from "../../server-file.ts";
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";
import { withAutomation } from "./automations.ts";

export const run = (invocation: Invocation, program: Program): Promise<number> =>
  withAutomation(invocation, program, async ({ automations, settings: { dataDirectory } }, automation) => {
    if (!listServers(dataDirectory).some(({ roles }) => roles.includes("scheduler")))
      throw new CommandError(
        "failed",
        "No server with the role scheduler uses this data directory, and runs start there. Start one with: platform serve",
      );
    const { id } = await automations.requestRun(automation);
    program.print(`${id} is planned. Its run: platform automations firings ${JSON.stringify(automation.name)}\n`);
    return 0;
  });
