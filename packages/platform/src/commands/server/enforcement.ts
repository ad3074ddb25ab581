// How the limits of agents are enforced on this machine, which is not always as they are configured.
import type { LimitsReport } from "@agentcli/workspace";
import type { agentLimits } from "../../runs/index.ts";
import type { Finding } from "./finding.ts";

export function describeEnforcement(
  { temporaryBytes, diskBytes }: Pick<ReturnType<typeof agentLimits>, "temporaryBytes" | "diskBytes">,
  { memory, processes }: LimitsReport,
): Finding {
  const text = [
    `memory ${size(memory.bytes)} (${memoryScopes[memory.by]})`,
    `processes ${processes.count ?? "unlimited"} (${processScopes[processes.by]})`,
    `/tmp ${size(temporaryBytes)}`,
    `files of an agent ${size(diskBytes)} (measured while it runs)`,
  ].join(", ");
  const isPerAgent = [memory, processes].every(({ by }) => by.startsWith("cgroup"));
  if (isPerAgent) return { subject: "limits", verdict: "fine", text };
  return { subject: "limits", verdict: "note", text: `${text}. ${withoutGroups}` };
}

const size = (bytes: number | null) => (bytes === null ? "unlimited" : `${Number((bytes / 1024 ** 3).toFixed(2))} GiB`);

type Enforcer = LimitsReport["memory"]["by"];

const memoryScopes: Record<Enforcer, string> = {
  "cgroup-v1": "all commands of an agent together, by cgroup-v1",
  "cgroup-v2": "all commands of an agent together, by cgroup-v2",
  rlimit: "each process by itself, by rlimit: an agent with several processes can use a multiple of it",
  nothing: "not enforced",
};

const processScopes: Record<Enforcer, string> = {
  ...memoryScopes,
  rlimit: "all processes of the same user together, by rlimit, not counting those that run when an agent starts",
};

const withoutGroups =
  "Agents are not limited as a whole, because the server cannot create control groups for memory and processes. Give it a control group that it may write, with systemd by Delegate=yes";
