// For commands that list, name, fork and remove sessions. Not loaded by a run.
export { type ForkRequest, forkRecords } from "./fork.ts";
export { readNames, trustedNames, writeName } from "./names.ts";
export { type Removal, removeSession } from "./remove.ts";
export { type Scan, scanSession } from "./scan.ts";
export { checkDirectories, openTrusted } from "./trusted-file.ts";
