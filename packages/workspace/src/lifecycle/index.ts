// How a workspace is opened when first needed, held open, lost and closed.
export { type LazyWorkspace, type LazyWorkspaceOptions, lazyWorkspace, type OpenedWorkspace } from "./lazy.ts";
