// Who users of the platform are on source hosts.
export { type AccessRefusal, openUserAccess, type UserAccess } from "./access.ts";
export { addAccountCallback, type Connecting, openConnecting } from "./connect.ts";
export { personOf } from "./person.ts";
export { openRepositoryReading, type Reading, type RepositoryReading } from "./reading.ts";
export { type Account, listAccounts, removeAccount, reviewersOf } from "./store.ts";
