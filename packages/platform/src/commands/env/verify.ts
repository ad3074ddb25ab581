// `platform env verify`
import { CommandError } from "@agentcli/command-line";
import { compareDisks } from "../../environments/compare-disks.ts";
import { diskOf } from "../../environments/operator.ts";
import { openMachines } from "../../machines/index.ts";
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";
import { describeDifference } from "./diff.ts";
import { followBuild, requireBuilder, requirePositional, withEnvironments } from "./environments.ts";

export const run = (invocation: Invocation, program: Program): Promise<number> =>
  withEnvironments(invocation, program, async (command) => {
    const { environments, settings } = command;
    const environment = await environments.find(requirePositional(invocation, 0, "platform env verify NAME"));
    if (environment.active_build_id === null)
      throw new CommandError("failed", `${environment.name} has no active build. Build it: platform env build NAME`);
    requireBuilder(settings);
    const active = await environments.findBuild(environment.active_build_id);
    const { id } = await environments.build(environment, "draft");
    if ((await followBuild(command, id)) !== "SUCCEEDED")
      throw new CommandError("failed", `${environment.name} cannot be built again; the log above says why.`);
    const rebuilt = await environments.findBuild(id);
    const found = await compareDisks(openMachines(settings), { layers: [diskOf(active), diskOf(rebuilt)] });
    program.print(`${active.id}, then ${id}\n${describeDifference(found)}`);
    return found.packages.length + found.files.length === 0 ? 0 : 1;
  });
