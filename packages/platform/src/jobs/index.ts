// Work that waits in the database for whichever server gets to it first.
export { addJob, type JobColumns } from "./add.ts";
export { type JobHost, type Jobs, startJobs, type Task } from "./jobs.ts";
