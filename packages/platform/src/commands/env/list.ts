// `platform env list`
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";
import { type EnvironmentCommand, withEnvironments } from "./environments.ts";

export const run = (invocation: Invocation, program: Program): Promise<number> =>
  withEnvironments(invocation, program, async (command) => {
    const [name] = invocation.positionals;
    const lines = name === undefined ? await listEnvironments(command) : await listBuilds(command, name);
    if (invocation.has("json")) program.print(`${JSON.stringify(lines.map(({ value }) => value))}\n`);
    else for (const { text } of lines) program.print(`${text}\n`);
    return 0;
  });

async function listEnvironments({ environments }: EnvironmentCommand) {
  return (await environments.list()).map((value) => ({
    value,
    text: `${value.id}  ${value.name}  ${value.team} (${value.owner})  ${value.activeBuildId ?? "no build yet"}`,
  }));
}

async function listBuilds({ environments }: EnvironmentCommand, name: string) {
  const environment = await environments.find(name);
  return (await environments.builds(environment.id)).map(({ id, status, trigger, draft, created_at }) => {
    const value = { id, status, trigger, draft, active: id === environment.active_build_id, createdAt: created_at };
    const mark = value.active ? "*" : " ";
    return { value, text: `${mark} ${id}  ${status}  ${trigger}${draft ? " draft" : ""}  ${created_at.toISOString()}` };
  });
}
