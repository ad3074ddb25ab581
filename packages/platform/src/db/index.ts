// The database of the platform.
export { actingAs, becomeActor } from "./actor.ts";
export { type Happening, noteHappening } from "./audit.ts";
export { type Connection, openClient, openPool } from "./connect.ts";
export { copyIn, copyOut } from "./copy.ts";
export { migrationNames } from "./migrate.ts";
export { claimNodeId, countRunningServers } from "./node-id.ts";
export { type Listener, type Notifications, notify, openNotifications } from "./notifications.ts";
export { type Database, type DatabaseSettings, type Inspection, inspectDatabase, openDatabase } from "./open.ts";
export { isDatabaseAway, isUniqueViolation, onceMore, patiently } from "./patience.ts";
export { DatabaseProblem } from "./problem.ts";
export type * from "./tables/index.ts";
