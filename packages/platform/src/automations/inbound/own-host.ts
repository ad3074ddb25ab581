// Events of the embedded git host: recorded by the host itself, and processed like those that come from outside.
import { randomBytes, randomUUID } from "node:crypto";
import { type Queries, teamKey, type Vault } from "../../foundation/index.ts";
import type { HostEvent } from "../../repositories/index.ts";
import { storeOwnEvent } from "./deliveries.ts";
import { readGithubEvent, type SourceEvent } from "./github.ts";
import { type EventSourceRow, secretAad } from "./store.ts";

/**
 * In the transaction of the change that the event is about. One that starts nothing is stored as processed: every run
 * pushes and opens a pull request, and to find out later that this concerns no one took twelve statements each.
 */
export const recordHostEvent =
  (vault: Vault) =>
  async (tx: Queries, { teamId, name, payload }: HostEvent): Promise<void> => {
    const text = JSON.stringify(payload);
    const events = readGithubEvent(name, JSON.parse(text));
    const names = events.map(({ event }) => event);
    const own = (await findOwn(tx, teamId, names)) ?? (await addOwn(tx, vault, { teamId, names }));
    const status = events.every(startsAutomationsAlone) && !own.isAwaited ? "processed" : "received";
    const key = await vault.unwrap(own.data_key);
    await storeOwnEvent(tx, { source: own, deliveryId: randomUUID(), name, body: Buffer.from(text), key, status });
  };

/** Comments, reviews, checks and the end of a pull request also wake, answer and fix, whatever automations there are. */
const startsAutomationsAlone = ({ event, action }: SourceEvent): boolean =>
  event === "push" ||
  event === "pull_request.draft_opened" ||
  event === "pull_request.pushed" ||
  (event === "pull_request.opened" && action !== "reopened");

type OwnSource = EventSourceRow & { data_key: Buffer; isAwaited: boolean };

/** `isAwaited`: whether an automation of the team starts with one of these events, in whatever repository. */
const findOwn = (tx: Queries, teamId: number, names: SourceEvent["event"][]): Promise<OwnSource | undefined> =>
  tx
    .selectFrom("event_sources")
    .innerJoin("teams", "teams.id", "event_sources.team_id")
    .selectAll("event_sources")
    .select("teams.data_key")
    .select(({ exists, selectFrom, val }) =>
      names.length === 0
        ? val(false).as("isAwaited")
        : exists(
            selectFrom("automations")
              .innerJoin("automation_triggers", "automation_triggers.automation_id", "automations.id")
              .select("automations.id")
              .where("automations.team_id", "=", teamId)
              .where("automations.enabled", "=", true)
              .where("automation_triggers.event", "in", names),
          ).as("isAwaited"),
    )
    .where("event_sources.team_id", "=", teamId)
    .where("event_sources.type", "=", "git_host")
    .$castTo<OwnSource>()
    .executeTakeFirst();

/** Its secret is never shown: no event from outside is accepted for it. */
async function addOwn(
  tx: Queries,
  vault: Vault,
  { teamId, names }: { teamId: number; names: SourceEvent["event"][] },
): Promise<OwnSource> {
  const key = await teamKey(tx, vault, teamId);
  const id = randomUUID();
  const secret = key.seal(randomBytes(32).toString("hex"), secretAad(id));
  await tx
    .insertInto("event_sources")
    .values({ id, team_id: teamId, type: "git_host", name: "git host", secret, created_at: new Date() })
    .onConflict((conflict) => conflict.column("team_id").where("type", "=", "git_host").doNothing())
    .execute();
  const source = await findOwn(tx, teamId, names);
  if (!source) throw new Error(`no event source of the git host for team ${teamId}`);
  return source;
}
