// Resource limits of the sandboxes of agents, as configured or by default.
import { resourceLimits, sizeBytes } from "@agentcli/host";
import type { ResourceLimits } from "@agentcli/workspace";
import type { Settings } from "../../../foundation/index.ts";

const defaults = { memory: "4g", tmp: "2g", disk: "20g" };

export interface AgentLimits extends ResourceLimits {
  /** All files of an agent together; null: no limit. */
  diskBytes: number | null;
}

/** No single file can be larger than all files together may be: this is enforced by the kernel, at once. */
export function agentLimits({ models: { limits = {} } }: Pick<Settings, "models">): AgentLimits {
  const { memory = defaults.memory, tmp = defaults.tmp, disk = defaults.disk, processes } = limits;
  const diskBytes = sizeBytes(disk);
  return { ...resourceLimits({ memory, tmp, ...(processes && { processes }) }), fileBytes: diskBytes, diskBytes };
}
