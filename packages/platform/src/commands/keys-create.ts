// `platform keys create`
import type { Invocation } from "../args.ts";
import { type KeyOwner, type Scope, scopes } from "../principals/index.ts";
import { UsageProblem } from "../problem.ts";
import type { Program } from "../program.ts";
import { readDurationMs } from "./duration.ts";
import { withPrincipals } from "./principals.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const name = invocation.text("name");
  if (!name) throw new UsageProblem("A key needs a name: platform keys create --name NAME.");
  const request = {
    name,
    team: invocation.text("team") ?? "default",
    owner: readOwner(invocation, name),
    scopes: readScopes(invocation.text("scopes")),
    expiresAt: readExpiry(invocation.text("expires"), new Date()),
  };
  const { key } = await withPrincipals(invocation, program, (principals) => principals.createKey(request));
  program.print(`${key}\n`);
  return 0;
}

function readOwner({ has, text }: Invocation, name: string): KeyOwner {
  const email = text("user");
  if (!has("service-account")) return { kind: "user", email: email ?? null };
  if (email)
    throw new UsageProblem("A key is of a user or of a service account: --user or --service-account, not both.");
  return { kind: "service_account", name };
}

function readScopes(text: string | undefined): Scope[] | null {
  if (text === undefined) return null;
  const wanted = text.split(",").map((scope) => scope.trim());
  const unknown = wanted.find((scope) => !(scopes as readonly string[]).includes(scope));
  if (unknown === undefined) return wanted as Scope[];
  throw new UsageProblem(`There is no scope "${unknown}". Choose from ${scopes.join(", ")}.`);
}

export function readExpiry(text: string | undefined, now: Date): Date | null {
  if (text === undefined) return null;
  const duration = readDurationMs(text);
  const at = duration === null ? Date.parse(text) : now.getTime() + duration;
  if (at > now.getTime()) return new Date(at);
  const wrong = Number.isNaN(at) ? "is no time" : "is over";
  throw new UsageProblem(
    `--expires ${text} ${wrong}. Give a time to come, such as 2030-01-31T12:00Z, or 30d, 12h, 45m.`,
  );
}
