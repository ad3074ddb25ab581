// Everything of a platform in one file, and back.
export { type BackupSummary, type BackupWish, makeBackup } from "./make.ts";
export { BackupProblem } from "./problem.ts";
export { type RestoreWish, restoreBackup } from "./restore.ts";
export { refuseHalfRestored } from "./underway.ts";
