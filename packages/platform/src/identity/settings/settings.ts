// Reads and changes the settings of a team and of a user. The audit log records every change.
import type {
  ModelSelection,
  TeamSettings,
  TeamSettingsChange,
  UserSettings,
  UserSettingsChange,
} from "@agentcli/protocol/api";
import { sql } from "kysely";
import {
  type PlatformContext,
  prepared,
  type Queries,
  type Settings,
  type StoredSettings,
} from "../../foundation/index.ts";
import { chooseSpendLimit, followUpsOf, refuseFormerUser, setFollowUps, spendLimitOf } from "../principals/index.ts";
import { asTeamSees } from "./allowed-models.ts";

export async function readTeamSettings(db: Queries, teamId: number): Promise<TeamSettings> {
  const row = await db.selectFrom("team_settings").select("settings").where("team_id", "=", teamId).executeTakeFirst();
  const { egress: _, ...others } = settingsIn(row);
  return {
    followUps: await followUpsOf(db, teamId),
    ...others,
    allowedModels: row?.settings.allowedModels ?? null,
    egress: teamEgress(row?.settings),
    retention: row?.settings.retention ?? "indefinite",
    spendLimit: await spendLimitOf(db, teamId),
  };
}

export async function readUserSettings(db: Queries, userId: number): Promise<UserSettings> {
  const row = await db.selectFrom("user_settings").select("settings").where("user_id", "=", userId).executeTakeFirst();
  return settingsIn(row);
}

export interface SettingsOwner {
  teamId: number;
  userId: number | null;
}

/** What agents and runs of a user begin with. */
export interface StartSettings {
  /** The server's, as the team sees them. */
  settings: Settings;
  /** Of agents that name none. */
  defaultModels: Record<"user" | "team", ModelSelection | null>;
  egress: EgressSettings;
}

/** What a user and the team set about the network. */
export interface EgressSettings {
  user: UserSettings["egress"];
  team: TeamSettings["egress"];
}

export async function readStartSettings(
  { db, settings }: Pick<PlatformContext, "db" | "settings">,
  owner: SettingsOwner,
): Promise<StartSettings> {
  const { user, team } = await readBoth(db, owner);
  return {
    settings: asTeamSees(settings, team?.allowedModels),
    defaultModels: { user: user?.defaultModel ?? null, team: team?.defaultModel ?? null },
    egress: { user: user?.egress ?? null, team: teamEgress(team) },
  };
}

export async function readEgressSettings(db: Queries, owner: SettingsOwner): Promise<EgressSettings> {
  const { user, team } = await readBoth(db, owner);
  return { user: user?.egress ?? null, team: teamEgress(team) };
}

/** Whether failed checks wake the agents that made their pull requests. */
export async function readAutofix(db: Queries, owner: SettingsOwner): Promise<boolean> {
  const { user, team } = await readBoth(db, owner);
  return user?.autofix ?? team?.autofix ?? true;
}

/** In one statement: a run waits for it. */
async function readBoth(
  db: Queries,
  { teamId, userId }: SettingsOwner,
): Promise<Partial<Record<"user" | "team", StoredSettings | null>>> {
  const team = db.selectFrom("team_settings").select("settings").where("team_id", "=", teamId);
  const user = db.selectFrom("user_settings").select("settings").where("user_id", "=", sql<number>`${userId}`);
  return (
    (await db
      .selectNoFrom([team.as("team"), user.as("user")])
      .modifyEnd(prepared)
      .executeTakeFirst()) ?? {}
  );
}

const teamEgress = (stored: StoredSettings | null | undefined): TeamSettings["egress"] =>
  stored?.egress ? { locked: false, ...stored.egress } : null;

const settingsIn = (row: { settings: StoredSettings } | undefined): UserSettings => ({
  defaultModel: row?.settings.defaultModel ?? null,
  egress: row?.settings.egress ?? null,
  autofix: row?.settings.autofix ?? null,
  newAgent: row?.settings.newAgent ?? null,
});

/** Whole or not at all. */
export async function changeTeamSettings(
  tx: Queries,
  teamId: number,
  { followUps, spendLimit, ...change }: TeamSettingsChange,
): Promise<void> {
  if (followUps !== undefined) await setFollowUps(tx, teamId, followUps);
  if (spendLimit !== undefined) await chooseSpendLimit(tx, teamId, spendLimit);
  if (Object.keys(change).length === 0) return;
  await tx
    .insertInto("team_settings")
    .values({ team_id: teamId, settings: JSON.stringify(change) })
    .onConflict((conflict) =>
      conflict.column("team_id").doUpdateSet({ settings: merged("team_settings"), updated_at: now }),
    )
    .execute();
}

export async function changeUserSettings(tx: Queries, userId: number, change: UserSettingsChange): Promise<void> {
  if (Object.keys(change).length === 0) return;
  await refuseFormerUser(tx);
  await tx
    .insertInto("user_settings")
    .values({ user_id: userId, settings: JSON.stringify(change) })
    .onConflict((conflict) =>
      conflict.column("user_id").doUpdateSet({ settings: merged("user_settings"), updated_at: now }),
    )
    .execute();
}

const now = sql<Date>`now()`;

/** Two changes of different members at once both remain. */
const merged = (table: "team_settings" | "user_settings") =>
  sql<string>`${sql.ref(`${table}.settings`)} || excluded.settings`;
