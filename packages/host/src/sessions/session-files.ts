// For commands that list, name, fork and remove sessions. Not loaded by a run.
export { type ForkRequest, forkRecords } from "./fork.ts";
export { readNames, writeName } from "./names.ts";
export { type Removal, removeSession } from "./remove.ts";
export { type Scan, scanSession } from "./scan.ts";
export { openTrusted } from "./trusted-file.ts";
