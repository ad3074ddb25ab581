// Exports of runs for other groups.
export type { FindReadableAgent, ReadableAgent } from "./agent-reader.ts";
export { linkArtifact, shownArtifacts } from "./artifacts/index.ts";
export { insertRun, type NewRun, requestCancel, requestCancelOfAll, waitForEnd } from "./control.ts";
export type { ArtifactOwner, Artifacts } from "./execution/artifacts.ts";
export { chooseModel, describeModel, identifyModel, isPractice, practiceNotice } from "./execution/compose/index.ts";
export type { RunHost } from "./execution/execute.ts";
export { RunFault } from "./execution/fault.ts";
export { newId, threadOf } from "./execution/ids.ts";
export { findUnpriced, modelsOfSubagents, type UsedModel } from "./execution/pricing.ts";
export * from "./execution/request.ts";
export { readReport, readSummary } from "./execution/run-summary.ts";
export { type Runner, startRunner } from "./execution/runner.ts";
export { agentLimits, openSandboxes, probeForAgents, type Sandboxes } from "./execution/sandbox/index.ts";
export { openSessionStore, readThreadRecords } from "./execution/session-store.ts";
export { type Fence, type Leases, openLeases } from "./leases/lease.ts";
export { openRuns, type Runs } from "./open.ts";
export { type StreamHost, streamRun } from "./streams/index.ts";
export { leftToSpend, priceUnknown, type Spender, spendLimitReached } from "./usage/index.ts";
