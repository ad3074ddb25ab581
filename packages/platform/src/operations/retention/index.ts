// Retention: removes on a schedule what is not kept for good.
export { draftRetention } from "./drafts.ts";
export { openRetention, startRetention } from "./retention.ts";
