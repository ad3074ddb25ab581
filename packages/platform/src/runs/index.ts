// Runs: who drives them, and what they do.
export type { ArtifactOwner, Artifacts } from "./artifacts.ts";
export { type ChosenModel, chooseModel, openSandboxes, probeForAgents, type Sandboxes } from "./compose/index.ts";
export type { RunHost } from "./execute.ts";
export { RunFault } from "./fault.ts";
export { newId, threadOf } from "./ids.ts";
export { type Fence, type Leases, openLeases } from "./lease.ts";
export { findUnpriced, modelsOfSubagents, unpriced } from "./pricing.ts";
export * from "./request.ts";
export { type Runner, startRunner } from "./runner.ts";
export { openSessionStore, readThreadRecords } from "./session-store.ts";
export { leftToSpend, type Spender } from "./spend.ts";
export { readReport, readStory } from "./story.ts";
