// Settings of a team and of a user: `GET` and `PATCH` of `/v1/team/settings` and `/v1/me/settings`.
import { z } from "zod";
import { AgentEnv, Repository } from "./agents.ts";
import { ModelSelection } from "./common.ts";
import { TeamEgress, UserEgress } from "./egress.ts";

/** Where a new agent works. An environment brings its repositories. */
export const NewAgentDefault = z
  .union([
    z.strictObject({ repository: Repository.shape.url, branch: Repository.shape.startingRef }),
    z.strictObject({ environment: AgentEnv.shape.name.unwrap() }),
  ])
  .meta({ id: "NewAgentDefault" });
export type NewAgentDefault = z.infer<typeof NewAgentDefault>;

/** Of all agents and model calls of a team together. */
export const SpendLimit = z
  .strictObject({
    monthlyUsd: z
      .number()
      .min(0)
      .max(999_999_999)
      .nullable()
      .describe("US dollars per calendar month; null: no limit, as an administrator has chosen"),
  })
  .meta({ id: "SpendLimit" });
export type SpendLimit = z.infer<typeof SpendLimit>;

const ofTeam = {
  followUps: z
    .enum(["disabled", "service_accounts", "all"])
    .describe("Whose agents accept follow-ups from the whole team"),
  defaultModel: ModelSelection.nullable().describe("Of agents that name no model; null: the server's"),
  allowedModels: z
    .array(z.string().min(1).max(200))
    .min(1)
    .max(200)
    .nullable()
    .describe("Ids of the models that agents and model calls of the team may use; null: all of the server"),
  egress: TeamEgress.nullable().describe("What machines of the team may reach; null: all public hosts"),
  autofix: z
    .boolean()
    .nullable()
    .describe("Whether failed checks wake the agents that made their pull requests; null: they do"),
  newAgent: NewAgentDefault.nullable().describe(
    "Repository and branch, or environment, that the form of a new agent begins with; null: the first repository. Requests do not use it",
  ),
  retention: z
    .enum(["indefinite", "90_days"])
    .describe(
      "How long agents are kept that no run uses; with 90_days they are then deleted, with their conversations",
    ),
  spendLimit: SpendLimit.nullable().describe("null: there is none, and no administrator has chosen yet"),
};
const ofUser = {
  defaultModel: ModelSelection.nullable().describe("Of the user's agents that name no model; null: the team's"),
  egress: UserEgress.nullable().describe("What machines of the user's agents may reach; null: what the team says"),
  autofix: z
    .boolean()
    .nullable()
    .describe("Whether failed checks wake the user's agents that made their pull requests; null: what the team says"),
  newAgent: NewAgentDefault.nullable().describe(
    "Repository and branch, or environment, that the form of a new agent begins with; null: the team's",
  ),
};

export const TeamSettings = z.object(ofTeam).meta({ id: "TeamSettings" });
export type TeamSettings = z.infer<typeof TeamSettings>;
export const UserSettings = z.object(ofUser).meta({ id: "UserSettings" });
export type UserSettings = z.infer<typeof UserSettings>;

/** Members that are left out stay as they are. */
export const TeamSettingsChange = z.strictObject({ ...ofTeam, spendLimit: SpendLimit }).partial();
export type TeamSettingsChange = z.infer<typeof TeamSettingsChange>;
export const UserSettingsChange = z.strictObject(ofUser).partial();
export type UserSettingsChange = z.infer<typeof UserSettingsChange>;
