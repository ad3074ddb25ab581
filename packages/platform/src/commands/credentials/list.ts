// `platform credentials list`
import type { Credential } from "@agentcli/protocol/api";
import { listCredentials } from "../../repositories/credentials/index.ts";
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";
import { shownKind, withCredentials } from "./store.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const credentials = await withCredentials(invocation, program, ({ store, teamId }) => listCredentials(store, teamId));
  const none = "No credentials. Set one: platform credentials set HOST --kind KIND < FILE\n";
  const lines = credentials.map(credentialLine).join("") || none;
  program.print(invocation.has("json") ? `${JSON.stringify(credentials, null, 2)}\n` : lines);
  return 0;
}

export function credentialLine({ host, kind, user, fingerprints = [], updatedAt }: Credential): string {
  const details = [...(user === undefined ? [] : [user]), ...fingerprints];
  return `${[host, shownKind(kind), ...details].join("  ")}  set ${updatedAt}\n`;
}
