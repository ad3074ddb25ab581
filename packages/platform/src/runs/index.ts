// Runs: who drives them, and what they do.
export { RunFault, type RunHost } from "./execute.ts";
export { newId, threadOf } from "./ids.ts";
export { type Fence, type Leases, openLeases } from "./lease.ts";
export { openSandboxes, type Sandboxes } from "./place.ts";
export * from "./request.ts";
export { type Runner, startRunner } from "./runner.ts";
export { openSessionStore } from "./session-store.ts";
export { leftToSpend } from "./spend.ts";
export { readStory } from "./story.ts";
