// `platform users create`
import type { Invocation } from "../command.ts";
import { withAdministration } from "../principals.ts";
import type { Program } from "../program.ts";
import { userLine } from "./list.ts";
import { readEmail, readRole } from "./set.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const request = {
    email: readEmail(invocation, "platform users create EMAIL"),
    team: invocation.text("team") ?? "default",
    role: readRole(invocation) ?? null,
  };
  program.print(userLine(await withAdministration(invocation, program, ({ createUser }) => createUser(request))));
  return 0;
}
