// Shows the records of a recording as the run itself showed them.
import { CommandError } from "@agentcli/command-line";
import type { StoredRecord } from "@agentcli/engine";
import type { Reporter } from "@agentcli/host";
import type { Cassette } from "@agentcli/host/cassette";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import { exitCode } from "../exec/execute.ts";
import { itemFinder } from "../sessions/items.ts";

export interface PlayOptions {
  reporter: Reporter;
  /** The last item to show. */
  until?: string | undefined;
}

/** Answers with the exit code that the run had. */
export async function play({ batches }: Cassette, { reporter, until }: PlayOptions): Promise<number> {
  const main = batches[0]?.thread;
  const isPast = pastOf(batches, main);
  const completes = until === undefined ? () => false : itemFinder(until);
  for (const [index, { thread, records }] of batches.entries()) {
    for (const stored of records) {
      if (thread !== main) reporter.onAgentRecord?.(stored);
      else if (isPast(index)) recall(stored, { reporter, completes });
      else await reporter.show(stored);
      if (thread === main && !isPast(index) && completes(stored)) return exitCodes.completed.code;
    }
  }
  if (until !== undefined) throw noItem(until);
  return finish(lastOf(batches, main), reporter);
}

function recall(
  stored: StoredRecord,
  { reporter, completes }: { reporter: Reporter; completes(stored: StoredRecord): boolean },
): void {
  reporter.recall(stored);
  completes(stored);
}

/** Each process notes its sandbox first: what was written before that belongs to earlier turns. */
function pastOf(batches: Cassette["batches"], main: string | undefined): (index: number) => boolean {
  const first = batches.findIndex(
    ({ type, thread, records }) =>
      type === "records" &&
      thread === main &&
      records.some(({ record }) => record.type === "noted" && record.kind === "sandbox"),
  );
  return (index) => index < first;
}

const lastOf = (batches: Cassette["batches"], main: string | undefined): StoredRecord | undefined =>
  batches.findLast(({ thread }) => thread === main)?.records.at(-1);

async function finish(last: StoredRecord | undefined, reporter: Reporter): Promise<number> {
  if (last?.record.type !== "turn.ended")
    throw new CommandError("failed", "The recording ends here: the run was stopped before its turn ended.");
  const { end } = last.record;
  if (end.status === "completed") await reporter.finish(end.message);
  return exitCode(end);
}

const noItem = (item: string): CommandError =>
  new CommandError("usage", `The recording has no completed item ${item}. agentcli replay FILE --json lists them.`);
