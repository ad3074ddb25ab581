// What other groups may use of operations.
export { addJob, startJobs } from "./jobs/index.ts";
