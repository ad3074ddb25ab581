// Forwards errors and warnings of the job library to the log; its other messages are about every job.
import type { Logger } from "graphile-worker";
import type { Log } from "../../foundation/index.ts";

export async function graphileLogger(log: Log): Promise<Logger> {
  const { Logger } = await import("graphile-worker");
  return new Logger(() => (level, message) => {
    if (level === "error") log.error("jobs.library", new Error(message));
    if (level === "warning") log.warn("jobs.library", { message });
  });
}
