// A policy with the paths that commands see. Pure.
import { insidePath } from "./placement.ts";
import type { SandboxPolicy } from "./policy.ts";

/** The paths of the policy as commands see them. */
export function policyInside(policy: SandboxPolicy): SandboxPolicy {
  const inside = (path: string) => insidePath(policy.placement, path);
  if (policy.placement === null) return policy;
  return {
    ...policy,
    placement: null,
    root: inside(policy.root),
    writableRoots: policy.writableRoots.map(inside),
    cache: policy.cache === null ? null : inside(policy.cache),
    hidden: policy.hidden.map(inside),
    shown: policy.shown.map(inside),
    protectedPaths: policy.protectedPaths.map(inside),
    protectedRepositories: policy.protectedRepositories.map(inside),
  };
}
