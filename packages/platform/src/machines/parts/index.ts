// What providers of this host share: the tools and the sandbox of a machine, its records, and layers without an image.
export { bubblewrapCommand, capabilities, toolPath } from "./bubblewrap.ts";
export { quote, removeTree, run } from "./command.ts";
export {
  beingMade,
  collectDrafts,
  makeDraft,
  publish,
  published,
  publishWritten,
  setAside,
  unpublish,
} from "./drafts.ts";
export { importHostBase, type LayerNotes, type UnpackLayer } from "./host-base.ts";
export { checkMachineId, maxLayers } from "./limits.ts";
export { claimRecord, readRecord, removeRecord, writeRecord } from "./records.ts";
export { findTools, type ToolMount, type Tools } from "./tools.ts";
