// Objects: bytes by key, in a directory or a bucket that several servers share.
export { type BlockSeal, openBlocks, sealBlocks } from "./blocks.ts";
export { openDirectoryStore } from "./directory.ts";
export {
  type Content,
  type ObjectContent,
  type ObjectEntry,
  ObjectExists,
  type ObjectStore,
  ObjectStoreFault,
  readAll,
} from "./object-store.ts";
export { checkObjects, type Objects, openObjects } from "./open.ts";
export { openS3Store, type S3Options } from "./s3.ts";
