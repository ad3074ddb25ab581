// From the end of a run to a draft pull request.

export { capPatch } from "./cap-patch.ts";
export { type CheckOptions, type RunReport, showDueChecks, startChecks } from "./checks.ts";
export { type Diffs, openDiffs, type RepositoryChange } from "./diff.ts";
export { type HandoffOptions, openHandoff } from "./finish.ts";
export type { HandedOff, HandedOffBranch, Handoff, HandoffFault, RunSummary, VerifiedCommand } from "./handoff.ts";
export { branchesOf, commitsAfter, findPushed, type ReopenedHandoff, reopenHandoffs } from "./store.ts";
