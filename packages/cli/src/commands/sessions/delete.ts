// `agentcli sessions delete`: removes sessions by id or age and says which.
import { CommandError } from "@agentcli/command-line";
import { removeSession } from "@agentcli/host/session-files";
import { listSessionPaths } from "@agentcli/host/sessions";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import type { Invocation } from "../../command.ts";
import type { Program } from "../../program.ts";
import { ageMs } from "../../sessions/age.ts";
import { findByReference, matchThreads } from "../../sessions/find.ts";
import { changedMs } from "../../sessions/list.ts";
import { threadIdOf } from "../../sessions/summary.ts";

export async function run(invocation: Invocation, { environment, print, reporter }: Program): Promise<number> {
  const home = environment.agentHome;
  const age = invocation.text("older-than");
  const references = invocation.positionals;
  if (references.length === 0 && age === undefined) {
    throw new CommandError("usage", "No sessions given. Pass session ids or names, or --older-than 30d.");
  }
  const wanted = references.length === 0 ? null : new Set(references.flatMap((one) => resolve(one, invocation, home)));
  const before = age === undefined ? Infinity : Date.now() - ageMs("older-than", age);
  let left = 0;
  for (const path of listSessionPaths(home)) {
    const id = threadIdOf(path);
    const changed = changedMs(path);
    if ((wanted && !wanted.has(id)) || changed === null || changed >= before) continue;
    const removal = removeSession(path);
    left += removal.kind === "removed" ? 0 : 1;
    if (removal.kind === "removed") await print(`removed ${id}\n`);
    if (removal.kind === "in-use") reporter.log(`${id} is in use by process ${removal.pid} and was not removed.`);
    if (removal.kind === "refused") reporter.log(`${id} was not removed: ${removal.reason}`);
  }
  return left > 0 ? exitCodes.usage.code : exitCodes.completed.code;
}

/** One session per argument; --force allows several. */
const resolve = (reference: string, { has }: Invocation, home: string): string[] => {
  const matches = matchThreads(reference, home);
  return matches.length > 1 && has("force") ? matches : [findByReference(reference, home)];
};
