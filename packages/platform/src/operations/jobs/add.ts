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
  /** Jobs of one queue run one after another, on all servers together. */
  queue: RawBuilder<string>;
}

export const addJob = ({ task, payload, key, runAt, queue }: JobColumns): RawBuilder<unknown> => sql`
  ${sql.id(jobSchema, "add_job")}(
    ${task}, payload := ${payload}, run_at := ${runAt}, job_key := ${key}, queue_name := ${queue}
  )`;
