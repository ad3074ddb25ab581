// Who users of the platform are on source hosts.
export { openUserAccess, type UserAccess } from "./access.ts";
export { addAccountCallback, type Connecting, openConnecting } from "./connect.ts";
export { type Account, listAccounts, removeAccount, reviewersOf } from "./store.ts";
