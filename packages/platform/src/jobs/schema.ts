// Where jobs are kept: a schema of their own in the platform's database.
export const jobSchema = "platform_jobs";
