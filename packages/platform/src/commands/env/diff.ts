// `platform env diff`
import { compareDisks, type DiskDifference } from "../../environments/compare-disks.ts";
import { diskOf } from "../../environments/operator.ts";
import { openMachines } from "../../machines/index.ts";
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";
import { requirePositional, withEnvironments } from "./environments.ts";

export const run = (invocation: Invocation, program: Program): Promise<number> =>
  withEnvironments(invocation, program, async ({ environments, settings }) => {
    const usage = "platform env diff BUILD BUILD";
    const first = await environments.findBuild(requirePositional(invocation, 0, usage));
    const second = await environments.findBuild(requirePositional(invocation, 1, usage));
    const found = await compareDisks(openMachines(settings), { layers: [diskOf(first), diskOf(second)] });
    program.print(invocation.has("json") ? `${JSON.stringify(found)}\n` : describeDifference(found));
    return 0;
  });

export function describeDifference({ packages, files, bytes: [before, after] }: DiskDifference): string {
  const part = (title: string, lines: string[]) =>
    lines.length === 0 ? `${title}: no difference\n` : `${title}:\n${lines.map((line) => `  ${line}\n`).join("")}`;
  return `${part("Packages", packages)}${part("Files", files)}Size: ${before} bytes, then ${after} bytes\n`;
}
