// Credentials of teams for git hosts.

export { acceptHostKey } from "./accept-host-key.ts";
export { openHostCredentials } from "./host-credentials.ts";
export { listWithCredentials, type OfferedRepositories } from "./list-repositories.ts";
export { addCredentialRoutes, deleteCredential, putCredential } from "./routes.ts";
export { type CredentialStore, listCredentials } from "./store.ts";
