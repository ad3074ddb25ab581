export { agentcliEventNames } from "./agentcli/definitions.ts";
export { hookDialects } from "./dialects.ts";
export { type LoadedHooks, readHookFiles } from "./read.ts";
export type { ScriptSearch } from "./script.ts";
export { type JudgedHook, type SelectedHooks, selectHooks } from "./select.ts";
export { isUnchanged, type TrustOptions, type TrustStatus, trustStatus, whySkipped } from "./trust.ts";
export { trustHooks, untrustHooks } from "./write.ts";
