// `platform users list`
import type { UserEntry } from "../../identity/principals/index.ts";
import type { Invocation } from "../command.ts";
import { withAdministration } from "../principals.ts";
import type { Program } from "../program.ts";
import { shownLimit } from "../spend-limit.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const team = invocation.text("team") ?? null;
  const users = await withAdministration(invocation, program, ({ listUsers }) => listUsers(team));
  program.print(invocation.has("json") ? `${JSON.stringify(users, null, 2)}\n` : users.map(userLine).join(""));
  return 0;
}

export const userLine = ({ email, team, role, spendLimitUsd }: UserEntry): string =>
  `${email}  ${team}  ${role}  ${shownLimit(spendLimitUsd)}\n`;
