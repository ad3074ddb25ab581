// Keeps the container of a machine running for sandboxes that are started in it; they end with it.
import { realpathSync } from "node:fs";
import { capabilities } from "../parts/index.ts";
import type { MachineSpec, MountedDisk, MountOptions } from "../provider.ts";
import { directoryPath, keptPath, toolsShown } from "./container.ts";
import type { DockerHost } from "./host.ts";
import { enterContainer } from "./machine.ts";
import { runContainer } from "./running.ts";
import { view } from "./tools.ts";

export async function mountDockerMachine(
  host: DockerHost,
  spec: MachineSpec,
  options: MountOptions,
): Promise<MountedDisk> {
  const { directories, kept, limits } = options;
  const { firstId, enforcer } = await host.probe();
  const tools = await host.tools();
  const { name, ended, kill } = await runContainer(host, spec, options);
  return {
    root: view.root,
    shown: [...hostPathsOf(host, spec), ...toolsShown(tools)],
    sources: directories.map((each, index) => ({ directory: realpathSync(each), path: directoryPath(index) })),
    kept: kept.map((path, index) => ({ path, source: keptPath(index) })),
    egress: "proxy-env",
    capabilities: capabilities.map((each) => `CAP_${each}`),
    setIdFiles: "allowed",
    server: { argv: tools.argv, terminalModule: tools.terminalModule },
    temporaryBytes: limits.temporaryBytes,
    limits: {
      report: {
        memory: { bytes: limits.memoryBytes, by: limits.memoryBytes === null ? "nothing" : enforcer },
        processes: { count: limits.processes, by: limits.processes === null ? "nothing" : enforcer },
      },
      groups: [],
      enter: (program, argv) => ({ program, argv }),
      newlyReached: () => [],
      close: async () => {},
    },
    userId: firstId,
    // Of the host's bubblewrap only the arguments are used: the container has its own copy.
    enter: (_program, argv) =>
      enterContainer(host, { container: name, inside: tools.processInside, argv: [...tools.bubblewrap, ...argv] }),
    ended,
    close: kill,
  };
}

const hostPathsOf = ({ layers }: DockerHost, spec: MachineSpec) =>
  spec.layers.flatMap((digest) => layers.notes(digest).hostPaths).map((path) => ({ path, source: path }));
