// What other groups may use of the fleet: the machines that customers bring.
export { WaitExpiredFault, WorkerFault } from "./calls.ts";
export { failureAad } from "./claims.ts";
export type { ClonableRepository } from "./clones.ts";
export { type EnvCheck, needsWorker } from "./env.ts";
export { isFor, noticeOfRun, runsIn } from "./notices.ts";
export { type ReadyOptions, workerIsReady } from "./online.ts";
export { type Fleet, openFleet } from "./open.ts";
export { readQueue } from "./queue.ts";
export { forgetSync } from "./sync-state.ts";
export type { UsedWorker, Workers, WorkRequest } from "./use.ts";
