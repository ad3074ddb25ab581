export { applyEdits } from "./edits.ts";
export { openWorkspace, type Workspace } from "./files.ts";
export {
  currentHash,
  isOnlyScript,
  type Pin,
  type PinnedPath,
  pinCommand,
  readPinned,
  type ScriptIncludes,
} from "./pin.ts";
export { hashOfContent } from "./tree.ts";
