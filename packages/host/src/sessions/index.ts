// Session files, as a run needs them: ids, the store, and where the files are.
export { readLines, writeLine } from "./lines.ts";
export { findSessionPath, listSessionPaths, newSessionPath } from "./paths.ts";
export { type FileStore, openFileStore, openMemoryStore, openStore } from "./store.ts";
export { newId } from "./thread-id.ts";
