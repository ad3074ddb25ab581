// What commands may reach, as configured, and whether that can be enforced.
import { CommandError } from "@agentcli/command-line";
import type { Config, SandboxMode } from "@agentcli/protocol";
import {
  checkDomains,
  proxyUnavailable,
  type SandboxPolicy,
  type SandboxProbe,
  supportsProxy,
} from "@agentcli/workspace";

type NetworkPolicy = Pick<SandboxPolicy, "network" | "allowedDomains" | "deniedDomains">;

/** Naming domains narrows the network, whether or not it is switched on; only denying some leaves all others. */
export function networkOf(mode: SandboxMode, write: NonNullable<Config["sandbox_workspace_write"]>): NetworkPolicy {
  const { network_access, allowed_domains, denied_domains } = write;
  const deniedDomains = denied_domains ?? [];
  if (mode !== "workspace-write") return direct(mode === "danger-full-access" ? "on" : "off");
  if (allowed_domains) return { network: "proxy", allowedDomains: allowed_domains, deniedDomains };
  if (network_access && denied_domains) return { network: "proxy", allowedDomains: ["*"], deniedDomains };
  return direct(network_access ? "on" : "off");
}

const direct = (network: "on" | "off"): NetworkPolicy => ({ network, allowedDomains: [], deniedDomains: [] });

/** Refuses, before anything is asked, domains that cannot be meant and walls that could not hold them. */
export async function checkNetwork(policy: SandboxPolicy, probe: SandboxProbe): Promise<void> {
  if (policy.network !== "proxy") return;
  try {
    await checkDomains([...policy.allowedDomains, ...policy.deniedDomains]);
  } catch (error) {
    throw new CommandError("usage", `sandbox_workspace_write: ${(error as Error).message}`);
  }
  if (probe.kind === "available" && !supportsProxy(probe.backEnd)) {
    throw new CommandError("sandbox", proxyUnavailable(probe.backEnd).join(" "));
  }
}
