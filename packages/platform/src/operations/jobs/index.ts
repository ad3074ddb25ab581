// Jobs: work queued in the database, executed by the first free server.
export { addJob, type JobColumns } from "./add.ts";
export { type JobHost, type Jobs, startJobs, type Task } from "./jobs.ts";
