// Settings of a server, each with its origin.
export { type Entry, type Loaded, loadSettings, type Sources } from "./load.ts";
export { SettingError } from "./setting-error.ts";
export type {
  CloudRoleSettings,
  GithubSettings,
  KmsSettings,
  ModelSettings,
  ObjectStoreSettings,
  OidcSettings,
  Settings,
  SourceHostSettings,
  UnsetVariable,
} from "./settings.ts";
export { describeUnset, requireVariables } from "./unset-variables.ts";
