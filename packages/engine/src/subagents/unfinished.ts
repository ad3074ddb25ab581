// The warning that the answer of a turn has no results of sub-agents that still run.
import type { Log } from "../log/log.ts";
import type { SubagentName } from "./subagents.ts";

export async function warnOfUnfinished(running: SubagentName[], log: Log): Promise<void> {
  const names = running.map(({ id, nickname }) => `${nickname} (${id})`).join(", ");
  const message = `The turn ended while sub-agents were still running: ${names}. Their results are not part of the answer.`;
  await log.write({ type: "noted", kind: "warning", data: { message } });
}
