// Files that an agent controls: their names, depth, permissions and links are not to be trusted.
export { openFile } from "./open.ts";
export { removeTree } from "./remove.ts";
export { listNames, listStale, randomId } from "./stale.ts";
export { unlockDirectory } from "./unlock.ts";
export { pathTo, type TreeEntry, type Visit, walk } from "./walk.ts";
