// `platform keys revoke`
import { CommandError } from "@agentcli/command-line";
import type { Invocation } from "../command.ts";
import { withPrincipals } from "../principals.ts";
import type { Program } from "../program.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const id = readKeyId(invocation, "platform keys revoke ID");
  const isRevoked = await withPrincipals(invocation, program, (principals) => principals.revokeKey(id));
  if (!isRevoked) throw new CommandError("usage", `There is no key ${id}. To list keys: platform keys list`);
  program.print(`revoked ${id}\n`);
  return 0;
}

/** Accepts the whole key, its prefix as keys list shows it, or its id alone. */
export function readKeyId({ positionals: [text = ""] }: Invocation, usage: string): string {
  const id = /^(?:plt_)?([0-9a-f]{12})(?:_.*)?$/.exec(text)?.[1];
  if (id) return id;
  throw new CommandError("usage", `Missing or invalid key id. Usage: ${usage}. To list keys: platform keys list`);
}
