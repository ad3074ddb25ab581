// `platform env activate`
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";
import { requirePositional, withEnvironments } from "./environments.ts";

export const run = (invocation: Invocation, program: Program): Promise<number> =>
  withEnvironments(invocation, program, async ({ environments }) => {
    const build = await environments.findBuild(requirePositional(invocation, 0, "platform env activate BUILD"));
    await environments.activate(build);
    program.print(`${build.id} is active.\n`);
    return 0;
  });
