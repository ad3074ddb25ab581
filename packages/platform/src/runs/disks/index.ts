// The files of agents: which data directory has them, and how another server gets them.

export { listStates, removeState } from "./local-state.ts";
export { diskIsReachable, findDiskHolder, forgetDisk, readDisk, readDiskWait, reportDataDirectory } from "./rows.ts";
export { openRunDisk, type RunDisk } from "./run-disk.ts";
export { saveIfPossible } from "./save-if-possible.ts";
export { removeSavedDisk } from "./saved-disk.ts";
