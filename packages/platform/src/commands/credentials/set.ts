// `platform credentials set`
import { CommandError } from "@agentcli/command-line";
import { acceptHostKey, putCredential } from "../../repositories/credentials/index.ts";
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";
import { readValue } from "../read-value.ts";
import { credentialLine } from "./list.ts";
import { readName, withCredentials } from "./store.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const name = readName(invocation, "platform credentials set HOST --kind KIND < FILE");
  const fingerprint = invocation.text("fingerprint");
  if (fingerprint !== undefined && name.kind !== "known_hosts")
    throw new CommandError("usage", "--fingerprint is for --kind known-hosts only.");
  const given = await readValue(invocation.text("file"), program);
  const value = fingerprint === undefined ? given : accept(given, name.host, fingerprint);
  const user = invocation.text("login");
  const request = { ...name, value, ...(user !== undefined && { user }) };
  const credential = await withCredentials(invocation, program, ({ store, teamId }) =>
    putCredential(store, teamId, request),
  );
  program.print(credentialLine(credential));
  return 0;
}

function accept(value: string, host: string, fingerprint: string): string {
  try {
    return acceptHostKey(value, host, fingerprint);
  } catch (error) {
    throw new CommandError("usage", (error as Error).message);
  }
}
