// Login with an OpenID provider.
export { localPath } from "./local-path.ts";
export { callbackPath, type OidcLogin, openOidc } from "./login.ts";
