// Settings of teams and of users.
export { settingsOfTeam } from "./allowed-models.ts";
export {
  changeTeamSettings,
  changeUserSettings,
  readAutofix,
  readDefaultModels,
  readEgressSettings,
  readTeamSettings,
  readUserSettings,
} from "./settings.ts";
