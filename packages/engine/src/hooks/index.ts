export type { HookGate } from "./gate.ts";
export { openHooks } from "./open-hooks.ts";
export type { HookHost, HookRequest, HookRun, HookRunner, ServerPlace } from "./port.ts";
