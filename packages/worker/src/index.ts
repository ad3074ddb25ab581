// The worker: a machine of the customer that runs the commands of agents, while the platform keeps loop and model.
export { type WorkerFlag, workerCommand, workerFlags } from "./commands.ts";
export { readWorkerOptions, type WorkerOptions } from "./options.ts";
export { startWorker, type WorkerProgram } from "./start.ts";
