// `platform users list`
import type { Invocation } from "../args.ts";
import type { UserEntry } from "../principals/index.ts";
import type { Program } from "../program.ts";
import { withAdministration } from "./principals.ts";
import { shownLimit } from "./spend-limit.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const team = invocation.text("team") ?? null;
  const users = await withAdministration(invocation, program, ({ listUsers }) => listUsers(team));
  program.print(invocation.has("json") ? `${JSON.stringify(users, null, 2)}\n` : users.map(userLine).join(""));
  return 0;
}

export const userLine = ({ email, team, role, spendLimitUsd }: UserEntry): string =>
  `${email}  ${team}  ${role}  ${shownLimit(spendLimitUsd)}\n`;
