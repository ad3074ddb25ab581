// Settings of teams and of users.
export {
  changeTeamSettings,
  changeUserSettings,
  readDefaultModels,
  readTeamSettings,
  readUserSettings,
} from "./settings.ts";
