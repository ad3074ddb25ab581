// `agentcli sessions show`: a thread as it was shown while it ran.
import { existsSync } from "node:fs";
import { withoutColours } from "@agentcli/command-line";
import { readNames } from "@agentcli/host/session-files";
import type { RecordOf } from "@agentcli/protocol";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import { humanText } from "@agentcli/surfaces/human";
import type { Invocation } from "../../command.ts";
import { choosePaint } from "../../output/paint.ts";
import type { Program } from "../../program.ts";
import { openSession } from "../../sessions/open.ts";
import { tagsOf } from "../../sessions/tags.ts";

export async function run(invocation: Invocation, { environment, print }: Program): Promise<number> {
  const { records, created } = openSession(invocation.positionals[0], environment.agentHome);
  const when = invocation.text("color") ?? (process.stdout.isTTY ? "auto" : "never");
  const text = humanText(choosePaint(when, environment.variables), created.program.version);
  const facts: [string, string | undefined][] = [
    ["session", created.threadId],
    ["name", readNames(environment.agentHome).get(created.threadId)],
    ["started", records[0]?.at],
    ["forked from", created.forkedFrom],
    ["worktree", created.worktree && describeWorktree(created.worktree)],
    ["tags", joined(tagsOf(records))],
  ];
  const header = facts.flatMap(([name, value]) => (value ? [`${name}: ${value}\n`] : []));
  await print(`${header.join("")}\n`);
  for (const stored of records) await print(text(process.stdout.isTTY ? withoutColours(stored) : stored), "own");
  return exitCodes.completed.code;
}

const describeWorktree = ({ path, branch }: NonNullable<RecordOf<"thread.created">["worktree"]>): string =>
  existsSync(path) ? `${path} (branch ${branch})` : `${path} (removed)`;

const joined = (tags: Record<string, string>): string =>
  Object.entries(tags)
    .map(([key, value]) => `${key}=${value}`)
    .join(", ");
