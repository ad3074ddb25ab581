// What an automation would do for events that are stored: which of them would start it, and with which prompt. It changes
// nothing and sends nothing.
import type { DryRunResult } from "@agentcli/protocol/api";
import { teamKey } from "../../foundation/index.ts";
import { openDefinition } from "../definition.ts";
import { promptOf } from "../firings/prompt.ts";
import type { AutomationHost } from "../host.ts";
import type { AutomationRow } from "../store.ts";
import { judgeStored, readStored } from "./stored.ts";

/** Of the latest stored events of the team, so many. */
export async function dryRun(host: AutomationHost, automation: AutomationRow, events: number): Promise<DryRunResult> {
  const { db, vault } = host.platform;
  const { prompt } = openDefinition(await teamKey(db, vault, automation.team_id), automation);
  const rows = await readStored(db, automation.team_id, events);
  const items: DryRunResult["items"] = [];
  for (const row of rows) {
    const judged = await judgeStored(host, automation, row);
    if (judged.outcome === "none") continue;
    const { event, repository, receivedAt, outcome } = judged;
    const shared = { event, repository, receivedAt, outcome };
    if (judged.outcome === "skip") items.push({ ...shared, outcome: "skip", reason: judged.reason });
    else items.push({ ...shared, outcome: "start", prompt: promptOf(prompt.text, judged.payload) });
  }
  return { looked: rows.length, items };
}
