// Files that an agent controls: their names, depth, permissions and links are not to be trusted.
export { type DiskWatch, measure, watchDisk } from "./disk-quota.ts";
export { openFile } from "./open.ts";
export { hasLiveOwner, ownerSuffix } from "./owner-name.ts";
export { removeTree } from "./remove.ts";
export { listNames, listStale, randomId } from "./stale.ts";
export { makeTemporaryDirectory } from "./temporary.ts";
export { unlockDirectory } from "./unlock.ts";
export { pathTo, type TreeEntry, type Visit, walk } from "./walk.ts";
