// Limits on the memory and the processes of a sandbox.
export { removeGroup } from "./cgroup.ts";
export { freezeGroup, killGroup, thawGroup } from "./freezer.ts";
export {
  describeLimits,
  type LimitsReport,
  type MachineLimits,
  noLimits,
  type OpenedLimits,
  openLimits,
  type ResourceLimits,
} from "./limits.ts";
export { shareTemporary, type TemporaryShares } from "./temporary.ts";
