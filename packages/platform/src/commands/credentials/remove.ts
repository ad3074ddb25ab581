// `platform credentials remove`
import { CommandError } from "@agentcli/command-line";
import { deleteCredential } from "../../repositories/credentials/index.ts";
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";
import { readName, shownKind, withCredentials } from "./store.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const name = readName(invocation, "platform credentials remove HOST --kind KIND");
  await withCredentials(invocation, program, async ({ store, teamId, team }) => {
    const { host, kind, removed } = await deleteCredential(store, teamId, name);
    const what = `${shownKind(kind)} for ${host}`;
    if (!removed)
      throw new CommandError("usage", `Team ${team} has no ${what}. See what it has: platform credentials list.`);
    program.print(`Removed the ${what}.\n`);
  });
  return 0;
}
