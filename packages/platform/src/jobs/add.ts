// Adds a job as part of a transaction: where that is rolled back, there is no job.
import { type RawBuilder, sql } from "kysely";
import { jobSchema } from "./schema.ts";

/** All as SQL, so that a job can be made of each row of a statement. */
export interface JobColumns {
  task: string;
  /** JSON. */
  payload: RawBuilder<unknown>;
  /** One job per key: a second one takes the place of the first, unless that is being carried out. */
  key: RawBuilder<string>;
  runAt: RawBuilder<Date>;
}

export const addJob = ({ task, payload, key, runAt }: JobColumns): RawBuilder<unknown> =>
  sql`${sql.id(jobSchema, "add_job")}(${task}, payload := ${payload}, run_at := ${runAt}, job_key := ${key})`;
