// Events of the embedded git host: recorded by the host itself, and processed like those that come from outside.
import { randomBytes, randomUUID } from "node:crypto";
import { type Queries, teamKey, type Vault } from "../../foundation/index.ts";
import type { HostEvent } from "../../repositories/index.ts";
import { storeOwnEvent } from "./deliveries.ts";
import { type EventSourceRow, secretAad } from "./store.ts";

/** In the transaction of the change that the event is about. */
export const recordHostEvent =
  (vault: Vault) =>
  async (tx: Queries, { teamId, name, payload }: HostEvent): Promise<void> => {
    const key = await teamKey(tx, vault, teamId);
    const source = (await findOwn(tx, teamId)) ?? (await addOwn(tx, vault, teamId));
    const body = Buffer.from(JSON.stringify(payload));
    await storeOwnEvent(tx, { source, deliveryId: randomUUID(), name, body, key });
  };

const findOwn = (tx: Queries, teamId: number): Promise<EventSourceRow | undefined> =>
  tx
    .selectFrom("event_sources")
    .selectAll()
    .where("team_id", "=", teamId)
    .where("type", "=", "git_host")
    .executeTakeFirst();

/** Its secret is never shown: no event from outside is accepted for it. */
async function addOwn(tx: Queries, vault: Vault, teamId: number): Promise<EventSourceRow> {
  const key = await teamKey(tx, vault, teamId);
  const id = randomUUID();
  const secret = key.seal(randomBytes(32).toString("hex"), secretAad(id));
  await tx
    .insertInto("event_sources")
    .values({ id, team_id: teamId, type: "git_host", name: "git host", secret, created_at: new Date() })
    .onConflict((conflict) => conflict.column("team_id").where("type", "=", "git_host").doNothing())
    .execute();
  const source = await findOwn(tx, teamId);
  if (!source) throw new Error(`no event source of the git host for team ${teamId}`);
  return source;
}
