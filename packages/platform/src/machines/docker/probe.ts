// Asks the daemon what it can do for machines.
import type { MachineCapabilities } from "../provider.ts";
import type { Engine } from "./engine.ts";
import type { Probed } from "./host.ts";

interface DaemonInfo {
  DockerRootDir: string;
  SecurityOptions: string[] | null;
  CgroupVersion: string;
  MemoryLimit: boolean;
  PidsLimit: boolean;
  CpuCfsQuota: boolean;
}

export async function probeDaemon(engine: Engine): Promise<Probed> {
  const info = await engine.call<DaemonInfo>("GET", "/info").catch((error: Error) => error);
  if (info === null || info instanceof Error) return without(info?.message ?? "The Docker daemon did not answer.");
  // Its directory is named by the first ids of users and groups.
  const firstId = Number(/\/(\d+)\.\d+$/.exec(info.DockerRootDir)?.[1] ?? 0);
  const isMapped = firstId > 0 && (info.SecurityOptions ?? []).includes("name=userns");
  const enforced = (isEnforced: boolean) => (isEnforced ? "machine" : "nothing");
  return {
    firstId,
    enforcer: info.CgroupVersion === "2" ? "cgroup-v2" : "cgroup-v1",
    capabilities: {
      ...common,
      obstacle: isMapped ? null : rootObstacle,
      limits: {
        memory: enforced(info.MemoryLimit),
        processes: enforced(info.PidsLimit),
        cpu: enforced(info.CpuCfsQuota),
        disk: "nothing",
      },
    },
  };
}

const rootObstacle =
  'Root of a container would be root of this host. Set "userns-remap": "default" in /etc/docker/daemon.json, and start the Docker daemon again.';

const common: Omit<MachineCapabilities, "obstacle" | "limits"> = {
  kernel: "shared",
  users: "shared-range",
  freeze: "group",
  egress: "proxy-env",
  base: "host-read-only",
};

const nothing = { memory: "nothing", processes: "nothing", cpu: "nothing", disk: "nothing" } as const;

const without = (obstacle: string): Probed => ({
  firstId: 0,
  enforcer: "cgroup-v1",
  capabilities: { ...common, obstacle, limits: nothing },
});
