export { agentcliEventNames } from "./agentcli/definitions.ts";
export { hookDialects } from "./dialects.ts";
export {
  applyEdits,
  hashOfContent,
  type Pin,
  type PinnedPath,
  readPinned,
  type ScriptIncludes,
  type Workspace,
} from "./pin/index.ts";
export { type LoadedHooks, readHookFiles } from "./read.ts";
export { hookWorkspace, isCommandHook, pinHook, type ScriptSearch, whyOutdated } from "./script.ts";
export { type JudgedHook, type SelectedHooks, selectHooks } from "./select.ts";
export { isUnchanged, type TrustOptions, type TrustStatus, trustHash, trustStatus, whySkipped } from "./trust.ts";
export { trustHooks, untrustHooks } from "./write.ts";
