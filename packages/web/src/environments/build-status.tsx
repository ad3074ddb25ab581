// The status of a build: an icon and a word.
import type { BuildStatus } from "@agentcli/protocol/api";
import { buildWords, type RunStatus } from "@agentcli/protocol/outcomes";
import { StatusIcon } from "../components/status.tsx";

/** The shape of the run status that means the same. */
const shapes: Record<BuildStatus, RunStatus> = {
  IN_PROGRESS: "RUNNING",
  SUCCEEDED: "FINISHED",
  FAILED: "ERROR",
  CANCELLED: "CANCELLED",
  SKIPPED: "EXPIRED",
};

export const BuildBadge = ({ status }: { status: BuildStatus }) => (
  <span className={`badge status-${shapes[status].toLowerCase()}`} data-build-status={status}>
    <span aria-hidden="true">
      <StatusIcon status={shapes[status]} size={14} />
    </span>
    {buildWords[status]}
  </span>
);
