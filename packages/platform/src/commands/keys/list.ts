// `platform keys list`
import type { KeyEntry } from "../../identity/principals/index.ts";
import type { Invocation } from "../command.ts";
import { withPrincipals } from "../principals.ts";
import type { Program } from "../program.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const keys = await withPrincipals(invocation, program, (principals) => principals.listKeys());
  program.print(invocation.has("json") ? `${JSON.stringify(keys, null, 2)}\n` : keys.map(line).join(""));
  return 0;
}

function line({ id, name, team, owner, scopes, expiresAt, revokedAt, lastUsedAt }: KeyEntry): string {
  const whose = owner.kind === "user" ? `${owner.email} (${owner.role})` : `service account ${owner.name}`;
  const end = revokedAt ? ` revoked ${revokedAt.toISOString()}` : expiresAt ? ` until ${expiresAt.toISOString()}` : "";
  const used = lastUsedAt ? `used ${lastUsedAt.toISOString()}` : "never used";
  return `plt_${id}_…  ${name}  ${team}  ${whose}  ${scopes.join(",")}  ${used}${end}\n`;
}
