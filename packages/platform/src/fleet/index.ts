// What other groups may use of the fleet: the machines that customers bring.
export { type EnvCheck, needsWorker } from "./env.ts";
export { type Fleet, openFleet } from "./open.ts";
export { workerIsReady } from "./ready.ts";
export { forgetSync } from "./sync-state.ts";
export { type UsedWorker, WorkerFault, type Workers, type WorkRequest } from "./use.ts";
