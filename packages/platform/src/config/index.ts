// Settings of a server, each with its origin.
export { type Entry, type Loaded, loadSettings, type Sources } from "./load.ts";
export { SettingProblem } from "./problem.ts";
export type { GithubSettings, ModelSettings, OidcSettings, Settings, SourceHostSettings } from "./settings.ts";
