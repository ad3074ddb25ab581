// Items of a thread by their id in `exec --json`, such as item_12.
import { CommandError } from "@agentcli/command-line";
import type { StoredRecord } from "@agentcli/engine";
import { execEvents } from "@agentcli/surfaces/exec-jsonl";

/** Whether a record completes the item; it must be given every record. */
export function itemFinder(item: string): (stored: StoredRecord) => boolean {
  const project = execEvents();
  return (stored) => project(stored).some((event) => event.type === "item.completed" && event.item.id === item);
}

/** Number of the record that completes the item. Ids begin anew with each run of the thread: the newest counts. */
export function seqOfItem(records: StoredRecord[], item: string): number {
  const completes = itemFinder(item);
  const found = records.filter(completes).at(-1);
  if (found) return found.seq;
  throw new CommandError("usage", `The session has no completed item ${item}. exec --json shows the ids of items.`);
}
