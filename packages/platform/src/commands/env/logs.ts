// `platform env logs`
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";
import { followBuild, requirePositional, withEnvironments } from "./environments.ts";

export const run = (invocation: Invocation, program: Program): Promise<number> =>
  withEnvironments(invocation, program, async (command) => {
    await followBuild(command, requirePositional(invocation, 0, "platform env logs BUILD"));
    return 0;
  });
