// The server's settings as a team sees them: with the models that its administrators allow, and no others.
import { practice } from "@agentcli/models";
import { type PlatformContext, prepared, type Queries, type Settings } from "../../foundation/index.ts";

/** The first allowed model is the default where the server's own is not among them. */
export async function settingsOfTeam(
  { db, settings }: Pick<PlatformContext, "settings"> & { db: Queries },
  teamId: number,
): Promise<Settings> {
  const row = await db
    .selectFrom("team_settings")
    .select("settings")
    .where("team_id", "=", teamId)
    .modifyEnd(prepared)
    .executeTakeFirst();
  return asTeamSees(settings, row?.settings.allowedModels);
}

export function asTeamSees(settings: Settings, allowed: string[] | null | undefined): Settings {
  return allowed ? { ...settings, models: limited(settings.models, allowed) } : settings;
}

function limited(models: Settings["models"], allowed: string[]): Settings["models"] {
  const { model, models: others = [] } = models;
  const [first = model, ...rest] = [...new Set([model, ...others, practice])].filter((id) => allowed.includes(id));
  return { ...models, model: first, models: rest, allowed };
}
