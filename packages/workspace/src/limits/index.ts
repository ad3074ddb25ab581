// Limits on the memory and the processes of a sandbox.
export {
  describeLimits,
  type LimitsReport,
  noLimits,
  type OpenedLimits,
  openLimits,
  type ResourceLimits,
} from "./limits.ts";
