// Retention: removes on a schedule what is not kept for good.
export { openRetention, startRetention } from "./retention.ts";
