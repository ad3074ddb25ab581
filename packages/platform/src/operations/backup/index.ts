// Backup of a whole platform to one file, and restore.

export { BackupError } from "./backup-error.ts";
export { type BackupRequest, type BackupSummary, makeBackup } from "./make.ts";
export { type RestoreRequest, type RestoreSummary, restoreBackup } from "./restore.ts";
