// Reports what is enforced for a run, not what was requested.
import type { SandboxReport } from "@agentcli/protocol";
import { describeKnownGap, knownGapsOf } from "./back-end.ts";
import type { SandboxPolicy } from "./policy.ts";
import type { SandboxProbe } from "./probe.ts";
import { architectureOf } from "./seccomp/architecture.ts";

export function describeSandbox(policy: SandboxPolicy, probe: SandboxProbe): SandboxReport {
  const { mode, network } = policy;
  if (mode === "danger-full-access" || probe.kind === "unavailable") {
    return { mode, backend: "none", fs: "none", net: "on", pid: false, syscalls: false, admits: [] };
  }
  const { backEnd } = probe;
  return {
    mode,
    backend: backEnd.kind,
    fs: mode,
    net: network,
    pid: backEnd.kind === "bubblewrap" && backEnd.processes === "own",
    syscalls: backEnd.kind !== "seatbelt" && architectureOf(process.arch) !== undefined,
    admits: knownGapsOf(backEnd, policy).map(describeKnownGap),
  };
}
