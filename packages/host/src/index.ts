// Loaded by every run. Hooks, MCP servers, reviews and JSON Schema have separate entry points.
export { type Assembly, type AssemblyRequest, assemble } from "./assemble.ts";
export { callbacksFor, type RunCallbacks } from "./callbacks.ts";
export { localToday, type Today } from "./date.ts";
export {
  asLastTurn,
  driveServiceTurn,
  driveToEnd,
  endHookTimeoutMs,
  type TimeLimit,
  withLimits,
} from "./drive-turn.ts";
export type { HookSource } from "./hooks.ts";
export { HostError } from "./host-error.ts";
export { joinServers } from "./join-servers.ts";
export { type LineFile, LineFileFault, openLineFile } from "./line-file.ts";
export { isLockHeld, type Lock, type LockAttempt, takeLock } from "./lock.ts";
export { sandboxNote, takeNotes, threadCreated } from "./notes.ts";
export type { OtherModels } from "./other-models.ts";
export { makePrivateDirectory } from "./private-directory.ts";
export { openProbeCache, type ProbeCache } from "./probe-cache.ts";
export type { Environment, Reporter } from "./program.ts";
export { providerTimeouts } from "./provider-timeouts.ts";
export { resourceLimits, sizeBytes, sizeForm } from "./resource-limits.ts";
export { rulesGuard } from "./rules-guard.ts";
export type { EndedTurn, Recorded, Run, RunContext, Tape } from "./run.ts";
export type { ConfigOptions, MinBackEnd, RunOptions } from "./run-options.ts";
export { type OpenSandbox, type Sandbox, sandboxFor } from "./sandboxes.ts";
export type { RunningServers, ServerSource } from "./servers.ts";
export * from "./service/index.ts";
export {
  defaultMaxOpen,
  type RequestedRole,
  readRoles,
  requestedRole,
  type SubagentSettings,
} from "./sub-agents.ts";
export {
  type FollowUp,
  firstRecords,
  followUpRecord,
  type NewThread,
  type Opening,
  recordedIn,
  withRecordedReview,
} from "./thread-records.ts";
export { warningNote } from "./warning-note.ts";
