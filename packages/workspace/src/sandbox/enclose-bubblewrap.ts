// Starts the server inside one bubblewrap.
import type { BackEnd } from "./back-end.ts";
import { bubblewrapArguments } from "./bubblewrap.ts";
import { givenDescriptor, startConfined } from "./confined-process.ts";
import { type Enclosure, filterOf, type ServerProgram, writableOf } from "./enclosure.ts";
import { sandboxedEnvironment } from "./environment.ts";
import { explainFailure } from "./find-bubblewrap.ts";
import { makeMountPoints, removeMountPoints } from "./mount-points.ts";
import { planMounts } from "./plan.ts";
import type { SandboxPolicy } from "./policy.ts";
import { findTerminalLibrary, showRuntime } from "./runtime.ts";
import { SandboxUnavailable } from "./sandbox-unavailable.ts";

type Bubblewrap = Extract<BackEnd, { kind: "bubblewrap" }>;

export function encloseWithBubblewrap(
  policy: SandboxPolicy,
  { program, processes }: Bubblewrap,
  { serverProgram, nodePath, env, enter, onBridge }: ServerProgram,
): Enclosure {
  const terminals = findTerminalLibrary(serverProgram);
  const runtime = { serverProgram, nodePath, path: env.PATH ?? "", terminals };
  const plan = planMounts(showRuntime(policy, runtime), process.geteuid?.() ?? 0);
  const points = makeMountPoints(plan.mounts.flatMap((mount) => (mount.kind === "absent" ? mount.path : [])));
  const mounts = plan.mounts.filter((mount) => mount.kind !== "absent" || points.includes(mount.path));
  const filter = filterOf(policy, "allowed");
  const argv = bubblewrapArguments(
    { ...plan, mounts, processes },
    { argv: [nodePath, serverProgram], seccompDescriptor: filter && givenDescriptor },
  );
  const confined = startConfined({ ...enter(program, argv), given: filter, onBridge });
  return {
    process: confined,
    config: {
      env: sandboxedEnvironment(env),
      writable: writableOf(policy, "/tmp"),
      orphans: processes === "own" ? "ended-by-namespace" : "ended-by-watchdog",
      ...(terminals && { terminalModule: terminals.module }),
    },
    async close() {
      await (processes === "own" ? confined.kill() : confined.end());
      removeMountPoints(points);
    },
    explain(said) {
      if (!said.startsWith("bwrap:")) return undefined;
      const { reason, remedy } = explainFailure(said);
      return new SandboxUnavailable(reason, remedy);
    },
  };
}
