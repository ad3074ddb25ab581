// What machines may reach: policies, and the record of each run.
export { denyAllPolicy, policyName } from "./policy.ts";
export { presetHosts } from "./presets.ts";
export { checkAllowlist, policyOf, readPolicy } from "./read.ts";
export { type EgressRecord, type EgressRecordOptions, openEgressRecord } from "./record.ts";
export { addEgressRoute } from "./routes.ts";
