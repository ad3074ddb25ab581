// Accounts of platform users on source hosts.
export { type AccessRefusal, openUserAccess, type UserAccess } from "./access.ts";
export { openRepositoryChecks, type RepositoryCheckOptions, type RepositoryChecks } from "./checks.ts";
export { type AccountConnector, addAccountCallback, connectPath, openAccountConnector } from "./connect.ts";
export { listOnGithub } from "./list-repositories.ts";
export { personOf } from "./person.ts";
export { openRepositoryReading } from "./reading.ts";
export { addAccountRoutes } from "./routes.ts";
export { reviewersOf } from "./store.ts";
