// The disk of the data directory.

export { dataIdFile, readDataId } from "./data-id.ts";
export { describeStorage, isStorageFull, StorageFull, type StorageState, storageFullMessage } from "./space.ts";
export { openStorage, type Storage } from "./storage.ts";
