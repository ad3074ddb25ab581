// The worker: a machine of the customer that runs the commands of agents, while the platform keeps loop and model.
export { controllerCommand, debugCommand, startCommand, type WorkerFlag, workerFlags } from "./commands.ts";
export type { RunProgram } from "./program.ts";
export { runWorkerCommand } from "./run.ts";
