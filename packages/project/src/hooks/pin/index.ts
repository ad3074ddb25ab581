export { applyEdits, quote } from "./command.ts";
export { openWorkspace, type Workspace } from "./files.ts";
export type { NamedInclude } from "./includes.ts";
export { currentHash, isOnlyScript, type Pin, type PinnedPath, pinCommand, readPinned } from "./pin.ts";
