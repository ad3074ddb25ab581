// What is really enforced for a run, not what was asked for.
import type { SandboxReport } from "@agentcli/protocol";
import type { SandboxPolicy } from "./policy.ts";
import type { SandboxProbe } from "./probe.ts";
import { architectureOf } from "./seccomp.ts";

export function describeSandbox(policy: SandboxPolicy, probe: SandboxProbe): SandboxReport {
  const { mode, network } = policy;
  if (mode === "danger-full-access" || probe.kind === "unavailable") {
    return { mode, backend: "none", fs: "none", net: "on", pid: false, syscalls: false };
  }
  const syscalls = architectureOf(process.arch) !== undefined;
  return { mode, backend: "bubblewrap", fs: mode, net: network, pid: true, syscalls };
}
