export { type LineFile, LineFileFault, openLineFile } from "./line-file.ts";
export { isLockHeld, type Lock, type LockAttempt, takeLock } from "./lock.ts";
export { makePrivateDirectory } from "./private-directory.ts";
