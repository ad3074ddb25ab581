export type { ThreadHooks } from "../thread-hooks.ts";
export type { HookDialect, HookDialects } from "./dialect.ts";
export type { HookAnswer, HookRequest, HookRun, HookRunner } from "./hook-run.ts";
export { lastObject, parseObject } from "./last-object.ts";
export { openHooks } from "./open-hooks.ts";
export { mcpResult, outcomeText } from "./outcome-text.ts";
export type { AgentActivity, HookCall, HookEvent, HookPoint, ServerLocation, ThreadInfo } from "./point.ts";
export type { HookHost } from "./port.ts";
export { blocked, completed, failed, type Reaction } from "./reaction.ts";
