// The database of the platform.
export { actingAs, actingForRequest, becomeActor, unprovedUserId } from "./actor.ts";
export { type AuditEvent, recordAuditEvent } from "./audit.ts";
export { auditCalls, auditFunctions, auditTables, auditTriggers } from "./audit-triggers.ts";
export { type DatabaseClock, openDatabaseClock } from "./clock.ts";
export { type Connection, openClient, openPool } from "./connect.ts";
export { copyIn, copyOut } from "./copy.ts";
export { DatabaseError } from "./database-error.ts";
export { migrationNames } from "./migrate.ts";
export { claimNodeId, countRunningServers, describeNode, hasRunningServer, listNodes } from "./node-id.ts";
export { type Listener, type Notifications, notify, openNotifications } from "./notifications.ts";
export {
  type Database,
  type DatabaseSettings,
  type Inspection,
  inspectDatabase,
  openDatabase,
  openRestoringDatabase,
} from "./open.ts";
export { prepared } from "./prepared.ts";
export {
  markRestore,
  markRestoredTables,
  refuseHalfRestored,
  refuseHalfRestoredTables,
  unmarkRestore,
  unmarkRestoredTables,
} from "./restore-marker.ts";
export { isDatabaseAway, isUniqueViolation, retryOnce, retryWhileAway } from "./retry.ts";
export { type RunnerCount, watchRunnerCount } from "./runner-count.ts";
export type * from "./tables/index.ts";
