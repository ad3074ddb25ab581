// Keeps the files of an agent the same in two places: what has changed since they were last equal is sent.
export { type ApplyLimits, applyChanges, SyncFault } from "./apply.ts";
export { type Changes, changesSince, type Listing, listFiles } from "./listing.ts";
export { replaceFiles } from "./replace.ts";
export { sendChanges } from "./send.ts";
export { readSyncState, type SyncState, writeSyncState } from "./state.ts";
