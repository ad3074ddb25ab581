// `platform keys revoke`
import type { Invocation } from "../args.ts";
import { UsageProblem } from "../problem.ts";
import type { Program } from "../program.ts";
import { withPrincipals } from "./principals.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const id = readKeyId(invocation, "platform keys revoke ID");
  const isRevoked = await withPrincipals(invocation, program, (principals) => principals.revokeKey(id));
  if (!isRevoked) throw new UsageProblem(`There is no key ${id}. platform keys list shows them.`);
  program.print(`revoked ${id}\n`);
  return 0;
}

/** The whole key, its beginning as keys list shows it, or its id alone. */
export function readKeyId({ positionals: [given = ""] }: Invocation, usage: string): string {
  const id = /^(?:plt_)?([0-9a-f]{12})(?:_.*)?$/.exec(given)?.[1];
  if (id) return id;
  throw new UsageProblem(`Which key? Give its id: ${usage}. platform keys list shows them.`);
}
