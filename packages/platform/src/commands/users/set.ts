// `platform users set`
import { CommandError } from "@agentcli/command-line";
import { isEmail, type Role, type UserChange } from "../../identity/principals/index.ts";
import type { Invocation } from "../command.ts";
import { withAdministration } from "../principals.ts";
import type { Program } from "../program.ts";
import { readSpendLimit } from "../spend-limit.ts";
import { userLine } from "./list.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const email = readEmail(invocation, "platform users set EMAIL");
  const role = readRole(invocation);
  const change: UserChange = { ...(role && { role }), ...readSpendLimit(invocation) };
  if (Object.keys(change).length === 0)
    throw new CommandError("usage", "Nothing to set: pass --user-role admin or member, or --spend-limit USD or none.");
  program.print(
    userLine(await withAdministration(invocation, program, ({ changeUser }) => changeUser({ email }, change))),
  );
  return 0;
}

export function readEmail({ positionals }: Invocation, usage: string): string {
  const [email = ""] = positionals;
  if (isEmail(email)) return email;
  throw new CommandError(
    "usage",
    `${email === "" ? "Missing user." : `"${email}" is not an e-mail address.`} Usage: ${usage}`,
  );
}

export function readRole({ text }: Invocation): Role | undefined {
  const value = text("user-role");
  if (value === undefined || value === "admin" || value === "member") return value;
  throw new CommandError("usage", `Invalid role "${value}": use admin or member.`);
}
