// What the job library says, in our log: what went wrong only. The rest of it is about every job.
import type { Logger } from "graphile-worker";
import type { Log } from "../telemetry/index.ts";

export async function graphileLogger(log: Log): Promise<Logger> {
  const { Logger } = await import("graphile-worker");
  return new Logger(() => (level, message) => {
    if (level === "error") log.error("jobs.trouble", new Error(message));
    if (level === "warning") log.warn("jobs.trouble", { message });
  });
}
