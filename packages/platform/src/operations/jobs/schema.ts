// The database schema of the job library.
export const jobSchema = "platform_jobs";
