// Settings of the team and of the user over HTTP. All read them; administrators change the team's, users their own.
import type { NewAgentDefault, UserSettings } from "@agentcli/protocol/api";
import { checkAllowlist } from "../../egress/index.ts";
import { type Api, ApiError, invalid, type PlatformContext, schema } from "../../foundation/index.ts";
import {
  changeTeamSettings,
  changeUserSettings,
  type Principal,
  readTeamSettings,
  readUserSettings,
  settingsOfTeam,
} from "../../identity/index.ts";
import { isReference, readRepositoryUrl } from "../../repositories/index.ts";
import { checkAllowedModels, checkDefaultModel } from "../submit/index.ts";

const tag = "Settings";

export function addSettingsRoutes(api: Api, platform: PlatformContext): void {
  addTeamSettings(api, platform);
  addUserSettings(api, platform);
}

function addTeamSettings(api: Api, { db, settings }: PlatformContext): void {
  const path = "/v1/team/settings";
  const answer = {
    status: 200,
    schema: schema("settings", "TeamSettings"),
    description: "All settings of the team",
  } as const;
  const shared = { path, tag, answer } as const;
  api.route(
    { ...shared, method: "get", summary: "Read the settings of the team", scope: null },
    ({ principal: { teamId } }) => readTeamSettings(db, teamId),
  );
  api.route(
    {
      ...shared,
      method: "patch",
      summary: "Change settings of the team",
      scope: "admin",
      body: schema("settings", "TeamSettingsChange"),
      problems: ["invalid_model"],
    },
    async ({ body, principal: { teamId } }) => {
      checkAllowedModels(body.allowedModels, settings);
      await checkAllowlist(body.egress?.allowlist);
      checkNewAgent(body.newAgent);
      await db.transaction().execute(async (tx) => {
        await changeTeamSettings(tx, teamId, body);
        // The default is one of those that are allowed from now on.
        const { defaultModel } = await readTeamSettings(tx, teamId);
        if (body.defaultModel || body.allowedModels)
          checkDefaultModel(defaultModel, await settingsOfTeam({ db: tx, settings }, teamId));
      });
      return readTeamSettings(db, teamId);
    },
  );
}

function addUserSettings(api: Api, { db, settings }: PlatformContext): void {
  const path = "/v1/me/settings";
  const answer = {
    status: 200,
    schema: schema("settings", "UserSettings"),
    description: "All settings of the user",
  } as const;
  const shared = { path, tag, answer } as const;
  api.route(
    { ...shared, problems: ["forbidden"], method: "get", summary: "Read one's own settings", scope: null },
    ({ principal }) => readOwn(db, principal),
  );
  api.route(
    {
      ...shared,
      problems: ["forbidden", "invalid_model"],
      method: "patch",
      summary: "Change one's own settings",
      scope: "agents:write",
      body: schema("settings", "UserSettingsChange"),
    },
    async ({ body, principal }) => {
      if (body.defaultModel)
        checkDefaultModel(body.defaultModel, await settingsOfTeam({ db, settings }, principal.teamId));
      await checkAllowlist(body.egress?.allowlist);
      checkNewAgent(body.newAgent);
      if (Object.keys(body).length > 0)
        await db.transaction().execute((tx) => changeUserSettings(tx, userOf(principal), body));
      return readOwn(db, principal);
    },
  );
}

/** A service account has changed nothing. */
const readOwn = async (db: PlatformContext["db"], principal: Principal): Promise<UserSettings> =>
  principal.kind === "user"
    ? readUserSettings(db, principal.userId)
    : { defaultModel: null, egress: null, autofix: null, newAgent: null };

/** An environment may be made later, and is checked when an agent names it; an address that git would refuse is not kept. */
function checkNewAgent(start: NewAgentDefault | null | undefined): void {
  if (!start || "environment" in start) return;
  const read = readRepositoryUrl(start.repository);
  if (read.kind === "refused") throw invalid([`newAgent.repository: ${read.reason}`]);
  if (start.branch !== undefined && !isReference(start.branch))
    throw invalid([`newAgent.branch: ${JSON.stringify(start.branch)} cannot be the name of a branch, tag or commit`]);
}

function userOf(principal: Principal): number {
  if (principal.kind === "user") return principal.userId;
  throw new ApiError("forbidden", "A service account has no settings of its own; those of its team apply.");
}
