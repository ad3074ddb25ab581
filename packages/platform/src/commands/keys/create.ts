// `platform keys create`
import { CommandError } from "@agentcli/command-line";
import { type KeyOwner, type Scope, scopes } from "../../identity/principals/index.ts";
import type { Invocation } from "../command.ts";
import { readDurationMs } from "../duration.ts";
import { withPrincipals } from "../principals.ts";
import type { Program } from "../program.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const name = invocation.text("name");
  if (!name) throw new CommandError("usage", "A key needs a name: platform keys create --name NAME.");
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
    throw new CommandError(
      "usage",
      "A key belongs to a user or to a service account: pass --user or --service-account, not both.",
    );
  return { kind: "service_account", name };
}

function readScopes(text: string | undefined): Scope[] | null {
  if (text === undefined) return null;
  const requested = text.split(",").map((scope) => scope.trim());
  const unknown = requested.find((scope) => !(scopes as readonly string[]).includes(scope));
  if (unknown === undefined) return requested as Scope[];
  throw new CommandError("usage", `There is no scope "${unknown}". Choose from ${scopes.join(", ")}.`);
}

export function readExpiry(text: string | undefined, now: Date): Date | null {
  if (text === undefined) return null;
  const duration = readDurationMs(text);
  const at = duration === null ? Date.parse(text) : now.getTime() + duration;
  if (at > now.getTime()) return new Date(at);
  const problem = Number.isNaN(at) ? "is not a time or duration" : "is in the past";
  throw new CommandError(
    "usage",
    `--expires ${text} ${problem}. Pass a time such as 2030-01-31T12:00Z, or a duration such as 30d, 12h or 45m.`,
  );
}
