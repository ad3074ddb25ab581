// From the end of a run to a draft pull request.
export type { HandedOff, HandedOffBranch, Handoff, HandoffFault, RunStory } from "./handoff.ts";
