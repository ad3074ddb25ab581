// Reads the automations of a team as documents, and makes them as a plan says: all at once, or nothing.
import type { Kysely } from "kysely";
import { ApiError, type Queries, type Tables, teamKey, type Vault } from "../../foundation/index.ts";
import { isAddress } from "../../identity/index.ts";
import { openDefinition } from "../definition.ts";
import { principalOf } from "../identity.ts";
import {
  changeAutomation,
  deleteAutomation,
  disableAutomation,
  enableAutomation,
  insertAutomation,
  lockAutomation,
} from "../store.ts";
import { giveUpAgents } from "../subscriptions/batches.ts";
import { automationOf, type ViewContext } from "../views.ts";
import { type AutomationDocument, documentOf } from "./document.ts";
import type { ExistingAutomation, PlannedChange } from "./plan.ts";

/** By name. */
export async function readExisting(view: ViewContext, teamId: number): Promise<ExistingAutomation[]> {
  const rows = await view.platform.db
    .selectFrom("automations")
    .leftJoin("users", "users.id", "automations.user_id")
    .selectAll("automations")
    .select("users.email")
    .where("automations.team_id", "=", teamId)
    .orderBy("automations.name")
    .orderBy("automations.id")
    .execute();
  return Promise.all(
    rows.map(async ({ email, ...row }) => ({
      id: row.id,
      document: documentOf(await automationOf(view, row), email ?? undefined),
      tools: openDefinition(await teamKey(view.platform.db, view.platform.vault, teamId), row).tools,
    })),
  );
}

export interface ApplyContext {
  db: Kysely<Tables>;
  vault: Vault;
  teamId: number;
  now: Date;
}

/** Throws ApiError; nothing is changed then. */
export async function applyChanges(context: ApplyContext, changes: PlannedChange[]): Promise<void> {
  await context.db.transaction().execute(async (tx) => {
    for (const change of changes) await applyOne(context, tx, change);
  });
}

async function applyOne(context: ApplyContext, tx: Queries, change: PlannedChange): Promise<void> {
  switch (change.action) {
    case "keep":
      return;
    case "create":
      return create(context, tx, change.document);
    case "change":
      return update(context, tx, change);
    case "delete":
      await lockAutomation(tx, change.id);
      await giveUpAgents(tx, change.id);
      return deleteAutomation(tx, change.id);
  }
}

async function create({ vault, teamId, now }: ApplyContext, tx: Queries, document: AutomationDocument): Promise<void> {
  const { owner, id, ...automation } = document;
  const userId = owner === undefined ? null : await findUser(tx, teamId, owner);
  const key = await teamKey(tx, vault, teamId);
  const given = id === undefined ? {} : { id: await requireFree(tx, id) };
  const row = await insertAutomation(tx, { ...automation, ...given, teamId, userId, key }, now);
  // The service account of the team exists before the first run needs it.
  await principalOf(tx, row);
}

async function requireFree(tx: Queries, id: string): Promise<string> {
  const taken = await tx.selectFrom("automations").select("id").where("id", "=", id).executeTakeFirst();
  if (taken) throw new ApiError("validation_error", `id: ${id} is an automation of another team; leave the id out.`);
  return id;
}

async function findUser(tx: Queries, teamId: number, email: string): Promise<number> {
  const user = await tx
    .selectFrom("users")
    .select("id")
    .where("team_id", "=", teamId)
    .where(isAddress(email))
    .where("removed_at", "is", null)
    .executeTakeFirst();
  if (user) return user.id;
  throw new ApiError("validation_error", `owner: the team has no user ${email}. List them with: platform users list`);
}

async function update(
  { vault, teamId, now }: ApplyContext,
  tx: Queries,
  { id, document }: Extract<PlannedChange, { action: "change" }>,
): Promise<void> {
  const { owner: _owner, id: _id, enabled, model = null, ...change } = document;
  const automation = await lockAutomation(tx, id);
  const key = await teamKey(tx, vault, teamId);
  await changeAutomation(tx, { automation, key, now, authorize() {} }, { ...change, model });
  await principalOf(tx, await lockAutomation(tx, id));
  if (enabled) await enableAutomation(tx, id, now);
  else await disableAutomation(tx, { id, reason: "Its file says so.", now });
}
