// `platform users set`
import type { Invocation } from "../args.ts";
import { isEmail, type Role, type UserChange } from "../principals/index.ts";
import { UsageProblem } from "../problem.ts";
import type { Program } from "../program.ts";
import { withAdministration } from "./principals.ts";
import { readSpendLimit } from "./spend-limit.ts";
import { userLine } from "./users-list.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const email = readEmail(invocation, "platform users set EMAIL");
  const role = readRole(invocation);
  const change: UserChange = { ...(role && { role }), ...readSpendLimit(invocation) };
  if (Object.keys(change).length === 0)
    throw new UsageProblem("Set what? --user-role admin|member, --spend-limit USD or none.");
  program.print(userLine(await withAdministration(invocation, program, ({ changeUser }) => changeUser(email, change))));
  return 0;
}

export function readEmail({ positionals }: Invocation, usage: string): string {
  const [email = ""] = positionals;
  if (isEmail(email)) return email;
  throw new UsageProblem(`${email === "" ? "Which user?" : `"${email}" is no e-mail address.`} ${usage}`);
}

export function readRole({ text }: Invocation): Role | undefined {
  const given = text("user-role");
  if (given === undefined || given === "admin" || given === "member") return given;
  throw new UsageProblem(`There is no role "${given}". Choose admin or member.`);
}
