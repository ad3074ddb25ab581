// `platform env build`
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";
import { followBuild, requireBuilder, requirePositional, withEnvironments } from "./environments.ts";

export const run = (invocation: Invocation, program: Program): Promise<number> =>
  withEnvironments(invocation, program, async (command) => {
    const name = requirePositional(invocation, 0, "platform env build NAME");
    const environment = await command.environments.find(name);
    requireBuilder(command.settings);
    const { id } = await command.environments.build(environment, "active");
    program.print(`Build ${id}\n`);
    const status = await followBuild(command, id);
    program.print(`${status}\n`);
    return status === "SUCCEEDED" ? 0 : 1;
  });
