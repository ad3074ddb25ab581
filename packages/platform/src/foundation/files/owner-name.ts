// Names of files that say which process made them.
import { isRunning, ownIdentity } from "@agentcli/workspace";

export function ownerSuffix(): string {
  const { pid, startedAt } = ownIdentity();
  return `${pid}-${startedAt}`;
}

/** Whether the process that made a file of this name still runs. */
export function hasLiveOwner(name: string): boolean {
  const [, pid, startedAt = ""] = /-(\d+)-(\d+|null)-[0-9a-f]+$/.exec(name) ?? [];
  return pid !== undefined && isRunning({ pid: Number(pid), startedAt: startedAt === "null" ? null : startedAt });
}
