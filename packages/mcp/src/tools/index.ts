// MCP tools, resources and prompts as tools of the engine.
export { approvalGuard, changedReason } from "./approval.ts";
export { type DirectAccess, directAccess, type ServerOffer } from "./direct.ts";
export { nameTools } from "./names.ts";
export { type CallDetails, resultOutcome } from "./outcome.ts";
export { promptTools } from "./prompt-tools.ts";
export { resourceTools } from "./resource-tools.ts";
export { parseObject, serverTools } from "./tools.ts";
