// What other groups may use of usage.
export { openUsage } from "./open.ts";
