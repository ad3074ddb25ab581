// Settings of teams and of users.
export { settingsOfTeam } from "./allowed-models.ts";
export {
  changeTeamSettings,
  changeUserSettings,
  type EgressSettings,
  readAutofix,
  readEgressSettings,
  readStartSettings,
  readTeamSettings,
  readUserSettings,
} from "./settings.ts";
