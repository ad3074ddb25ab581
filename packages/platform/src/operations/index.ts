// What other groups may use of operations.
export { addJob, startJobs } from "./jobs/index.ts";
export { openRetention } from "./retention/index.ts";
