// Settings of teams and of users.
export { changeTeamSettings, changeUserSettings, readTeamSettings, readUserSettings } from "./settings.ts";
