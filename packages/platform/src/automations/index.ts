// What other groups may use of automations.
export { raiseRunAlert } from "./alerts.ts";
export { recordOutcome } from "./firings/store.ts";
export { openAutomations } from "./open.ts";
