// Adds a job within a transaction: a rollback removes the job too.
import { type RawBuilder, sql } from "kysely";
import { jobSchema } from "./schema.ts";

/** SQL expressions, so that one statement can add a job per row. */
export interface JobColumns {
  task: string;
  /** JSON. */
  payload: RawBuilder<unknown>;
  /** One job per key: a second one replaces the first, unless that is running. */
  key: RawBuilder<string>;
  runAt: RawBuilder<Date>;
}

export const addJob = ({ task, payload, key, runAt }: JobColumns): RawBuilder<unknown> =>
  sql`${sql.id(jobSchema, "add_job")}(${task}, payload := ${payload}, run_at := ${runAt}, job_key := ${key})`;
