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
        "Automations are started by a server with the role scheduler, and none is running on this data directory. Start one with: platform serve",
      );
    const { id } = await automations.requestRun(automation);
    program.print(`${id} is planned. Its run: platform automations firings ${JSON.stringify(automation.name)}\n`);
    return 0;
  });
