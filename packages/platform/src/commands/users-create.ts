// `platform users create`
import type { Invocation } from "../args.ts";
import type { Program } from "../program.ts";
import { withAdministration } from "./principals.ts";
import { userLine } from "./users-list.ts";
import { readEmail, readRole } from "./users-set.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const wish = {
    email: readEmail(invocation, "platform users create EMAIL"),
    team: invocation.text("team") ?? "default",
    role: readRole(invocation) ?? null,
  };
  program.print(userLine(await withAdministration(invocation, program, ({ createUser }) => createUser(wish))));
  return 0;
}
