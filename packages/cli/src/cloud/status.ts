// What has become of an agent, in one word for people and programs.
import type { Run } from "@agentcli/protocol/api";

export type CloudStatus = "pending" | "ready" | "error";

export function statusOf(run: Run | null): CloudStatus {
  switch (run?.status) {
    case "FINISHED":
      return "ready";
    case "ERROR":
    case "CANCELLED":
    case "EXPIRED":
      return "error";
    case "CREATING":
    case "RUNNING":
    case undefined:
      return "pending";
  }
}
