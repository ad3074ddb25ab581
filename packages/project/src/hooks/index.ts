export { agentcliEvents } from "./agentcli.ts";
export { type LoadedHooks, readHookFiles } from "./read.ts";
export type { ScriptPlace } from "./script.ts";
export { isUnchanged, type TrustGiven, type TrustStatus, trustStatus, whySkipped } from "./trust.ts";
export { trustHooks, untrustHooks } from "./write.ts";
