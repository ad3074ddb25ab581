// What has become of an agent, for programs and for people.
import { describeRunModel, outcomeWords, type Run } from "@agentcli/protocol/api";

export type CloudStatus = "pending" | "ready" | "error" | "cancelled";

export function statusOf(run: Run | null): CloudStatus {
  switch (run?.status) {
    case "FINISHED":
      return "ready";
    case "CANCELLED":
      return "cancelled";
    case "ERROR":
    case "EXPIRED":
      return "error";
    case "CREATING":
    case "RUNNING":
    case undefined:
      return "pending";
  }
}

/** No lines for runs of older servers, which do not report it. */
export const modelLines = (run: Pick<Run, "model"> | null): string[] =>
  run?.model ? [`Model: ${describeRunModel(run.model)}`] : [];

export const outcomeOf = (run: Run | null): string => outcomeWords[run?.status ?? "CREATING"];
