// What the limits of memory and processes count on this machine, in words: without control groups it is less than configured.
import type { LimitsReport } from "@agentcli/workspace";

export function describeEnforcement({ memory, processes }: LimitsReport): string[] {
  const isWhole = [memory, processes].every(({ by }) => by.startsWith("cgroup"));
  return [
    `limits.memory: ${memoryScopes[memory.by]}`,
    `limits.processes: ${processScopes[processes.by]}`,
    ...(isWhole ? [] : [withoutGroups]),
  ];
}

type Enforcer = LimitsReport["memory"]["by"];

const memoryScopes: Record<Enforcer, string> = {
  "cgroup-v1": "all commands of a thread together, by cgroup-v1",
  "cgroup-v2": "all commands of a thread together, by cgroup-v2",
  rlimit: "only each process by itself, by rlimit: commands with several processes can use a multiple of it",
  nothing: "not enforced",
};

const processScopes: Record<Enforcer, string> = {
  ...memoryScopes,
  rlimit: "only all processes of your user together, by rlimit, not counting those that run when the sandbox opens",
};

const withoutGroups =
  "not enforced: commands are not limited as a whole, because no control group can be created for memory and processes; a login session of systemd, or systemd-run --user --scope -p Delegate=yes, provides one";
