// Logging in with a provider.
export { localPath } from "./local-path.ts";
export { callbackPath, type OidcLogin, openOidc } from "./login.ts";
