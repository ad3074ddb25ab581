// What an automation would do for events that are stored: which of them would start it, and with which prompt. It changes
// nothing and sends nothing.
import type { DryRunResult } from "@agentcli/protocol/api";
import { teamKey } from "../../foundation/index.ts";
import { type Definition, openDefinition } from "../definition.ts";
import { promptOf } from "../firings/prompt.ts";
import type { AutomationHost } from "../host.ts";
import type { AutomationRow } from "../store.ts";
import { variablesOf } from "../variables.ts";
import { findCauses, loopOf } from "./cause.ts";
import { readGithubEvent, type SourceEvent } from "./github.ts";
import { type GithubTrigger, matchEvent } from "./match.ts";
import { beginningOf, ofOwnHost, originOf } from "./process.ts";
import { bodyAad, type EventSourceRow, recallFork } from "./store.ts";

/** Of the latest stored events of the team, so many. */
export async function dryRun(host: AutomationHost, automation: AutomationRow, events: number): Promise<DryRunResult> {
  const { db, vault } = host.platform;
  const key = await teamKey(db, vault, automation.team_id);
  const definition = openDefinition(key, automation);
  const rows = await db
    .selectFrom("inbound_events")
    .innerJoin("event_sources", "event_sources.id", "inbound_events.source_id")
    .selectAll("inbound_events")
    .select(["event_sources.type", "event_sources.team_id"])
    .where("event_sources.team_id", "=", automation.team_id)
    .orderBy("inbound_events.created_at", "desc")
    .limit(events)
    .execute();
  const items: DryRunResult["items"] = [];
  for (const row of rows) {
    const source = { id: row.source_id, type: row.type, team_id: row.team_id };
    const body = key.open(row.body, bodyAad(row.id)).toString("utf8");
    const found: DryRunResult["items"] = [];
    for (const read of readGithubEvent(row.name, JSON.parse(body))) {
      const event = source.type === "git_host" ? ofOwnHost(host, read) : await recallFork(db, source.id, read);
      const stored = { source, event, body, receivedAt: row.created_at.toISOString() };
      found.push(...(await judgeStored(host, { automation, definition }, stored)));
    }
    // A delivery about several branches starts one run.
    items.push(...found.slice(0, 1));
  }
  return { looked: rows.length, items };
}

interface StoredEvent {
  source: Pick<EventSourceRow, "id" | "type" | "team_id">;
  event: SourceEvent;
  body: string;
  receivedAt: string;
}

/** One item at most: of several triggers that want the event, the first counts. */
async function judgeStored(
  host: AutomationHost,
  { automation, definition }: { automation: AutomationRow; definition: Definition },
  { source, event, body, receivedAt }: StoredEvent,
): Promise<DryRunResult["items"]> {
  const matches = definition.triggers
    .filter((trigger): trigger is GithubTrigger => trigger.type === "github")
    .map((trigger) => matchEvent({ ...trigger, repos: trigger.repos.map(host.shownRepository) }, event));
  const match = matches.find(({ kind }) => kind !== "other");
  if (match === undefined || match.kind === "other") return [];
  const about = { event: event.event, repository: event.repositoryUrl, receivedAt };
  const causes = await findCauses(host, host.platform.db, { source, event });
  const reason = match.kind === "refused" ? match.reason : loopOf(causes, automation.id);
  if (reason !== null) return [{ ...about, outcome: "skip", reason }];
  const payload = {
    origin: originOf(source, event),
    contentType: "application/json",
    receivedAt,
    body: beginningOf(body),
    variables: variablesOf(event),
  };
  return [{ ...about, outcome: "start", prompt: promptOf(definition.prompt.text, payload) }];
}
