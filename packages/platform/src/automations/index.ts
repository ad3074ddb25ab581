// What other groups may use of automations.
export { raiseRunAlert } from "./alerts.ts";
export { recordOutcome } from "./firings/store.ts";
export { recordHostEvent } from "./inbound/own-host.ts";
export { openAutomations } from "./open.ts";
export { firingsOf, isProposingRun, proposalsToDecide, proposedTools } from "./proposals/waiting.ts";
