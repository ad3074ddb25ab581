// Starts the server inside one bubblewrap.

import { SandboxUnavailable } from "@agentcli/protocol/workspace-errors";
import { sandboxedEnvironment } from "../../environment/index.ts";
import { misplacedMount } from "../../server/index.ts";
import type { BackEnd } from "../back-end.ts";
import { setupDescriptor, startConfined } from "../confined-process.ts";
import { type CommandLine, inEgressNetwork } from "../egress-network.ts";
import { machineFilter } from "../machine-filter.ts";
import { makeMountPoints, removeMountPoints } from "../mount-points.ts";
import type { SandboxPolicy } from "../policy.ts";
import { policyInside } from "../policy-inside.ts";
import { findTerminalLibrary, showRuntime } from "../runtime.ts";
import { filterOf, type ServerProgram, type StartedSandbox, writableOf } from "../started-sandbox.ts";
import { bubblewrapArguments, type MountPlan } from "./arguments.ts";
import { expectedMounts, replacedDuringStart } from "./expected-mounts.ts";
import { explainBubblewrapFailure } from "./find.ts";
import { planMounts } from "./plan.ts";

type Bubblewrap = Extract<BackEnd, { kind: "bubblewrap" }>;

export function startWithBubblewrap(
  policy: SandboxPolicy,
  { program, processes }: Bubblewrap,
  { env, enter, onBridge, bridgePorts, temporaryBytes, ...sources }: ServerProgram,
): StartedSandbox {
  const { disk } = sources;
  const {
    argv: server,
    terminalModule,
    shown,
  } = disk ? { ...disk.server, shown: policy } : hostServer(policy, { ...sources, env });
  const plan = planMounts(shown, {
    euid: process.geteuid?.() ?? 0,
    home: env.HOME ?? "/",
    bytes: temporaryBytes ?? undefined,
    disk,
  });
  const expected = expectedMounts(plan.mounts, plan);
  const points = makeMountPoints(plan.mounts.flatMap((mount) => (mount.kind === "absent" ? mount.path : [])));
  const mounts = plan.mounts.filter((mount) => mount.kind !== "absent" || points.includes(mount.path));
  const filter = disk ? machineFilter(disk) : filterOf(policy, { internetSockets: "allowed", ipc: "own" });
  const commandIn = (network: MountPlan["network"]) => ({
    program,
    argv: bubblewrapArguments(
      { ...plan, mounts, processes, network },
      { argv: server, seccompDescriptor: filter && setupDescriptor },
    ),
  });
  const isTransparent = disk?.egress === "transparent" && plan.network === "proxy";
  const command = (isTransparent && prepareNetwork(bridgePorts, commandIn)) || commandIn(plan.network);
  const files = mounts.flatMap((mount) => (mount.kind === "generated" ? mount : []));
  const started = disk ? disk.enter(command.program, command.argv) : command;
  const confined = startConfined({ ...enter(started.program, started.argv), setup: filter, files, onBridge });
  return {
    process: confined,
    shadows: plan.shadows,
    config: {
      env: sandboxedEnvironment(env),
      writable: writableOf(policyInside(policy), "/tmp"),
      orphans: processes === "own" ? "ended-by-namespace" : "ended-by-watchdog",
      mounts: expected,
      ...(terminalModule && { terminalModule }),
    },
    async close() {
      await (processes === "own" ? confined.killNamespace() : confined.end());
      removeMountPoints(points);
    },
    explainFailure(stderr) {
      if (stderr.startsWith(misplacedMount)) return replacedDuringStart(stderr.slice(misplacedMount.length).trimEnd());
      if (!stderr.startsWith("bwrap:")) return undefined;
      const { reason, remedy } = explainBubblewrapFailure(stderr);
      return new SandboxUnavailable(reason, remedy);
    },
  };
}

const prepareNetwork = (
  ports: number[] | undefined,
  commandIn: (network: "prepared") => CommandLine,
): CommandLine | undefined => ports && inEgressNetwork(ports, commandIn("prepared"));

/** The programs of the host, which the policy must show. */
function hostServer(
  policy: SandboxPolicy,
  { serverProgram, nodePath, env }: Pick<ServerProgram, "serverProgram" | "nodePath" | "env">,
) {
  const terminals = findTerminalLibrary(serverProgram);
  const runtime = { serverProgram, nodePath, path: env.PATH ?? "", terminals };
  return { argv: [nodePath, serverProgram], terminalModule: terminals?.module, shown: showRuntime(policy, runtime) };
}
