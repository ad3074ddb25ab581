// The database of the platform.
export { type Connection, openPool } from "./connect.ts";
export { claimNodeId } from "./node-id.ts";
export { type Listener, type Notifications, notify, openNotifications } from "./notifications.ts";
export { type Database, type DatabaseSettings, type Inspection, inspectDatabase, openDatabase } from "./open.ts";
export { isDatabaseAway, isUniqueViolation, patiently } from "./patience.ts";
export { DatabaseProblem } from "./problem.ts";
export type * from "./tables.ts";
