// Builds environments in machines: base, repositories, `install`, then the disk becomes the layers that agents start from.
import { join } from "node:path";
import type { Images } from "../../images/index.ts";
import { type Machine, type Machines, removeMachineFiles } from "../../machines/index.ts";
import { prepareBase } from "./base.ts";
import { importCheckout } from "./checkout-layer.ts";
import type { BuildExecutor, BuildLogger, BuildOutcome } from "./executor.ts";
import { type InstallRequest, install } from "./install.ts";
import { writeOutput } from "./output.ts";

export interface MachineExecutorOptions {
  machines: Machines;
  images: Images;
}

export function openMachineExecutor({ machines, images }: MachineExecutorOptions): BuildExecutor {
  const directoryOf = (buildId: string) => join(machines.directory, "builds", buildId);
  return {
    async execute(order, log, signal) {
      const provider = await machines.provider();
      const { obstacle } = await provider.capabilities();
      if (obstacle !== null) {
        log(`${obstacle}\nAgents work in a directory of the server until then, without install and start.\n`);
        return { status: "failed", failure: { type: "TERMINAL_FAILURE", code: "machines_unavailable" } };
      }
      const directory = directoryOf(order.buildId);
      const base = await prepareBase({ provider, images, order, directory }, log, signal).finally(() =>
        clear(directory),
      );
      log("Checking out\n");
      const files = await importCheckout({ order, provider, directory }, signal).finally(() => clear(directory));
      const machine = await provider.create({
        id: order.buildId,
        layers: [files, ...base.layers],
        limits: machines.limits,
      });
      try {
        return await prepare({ machine, order, env: base.env }, log, signal);
      } finally {
        await machine.remove();
      }
    },
    async discard(buildId) {
      await clear(directoryOf(buildId));
      const provider = await machines.provider();
      await (await provider.find(buildId))?.remove();
    },
  };
}

/** Of other users too. */
const clear = (directory: string) => removeMachineFiles(directory);

/** What a failed `install` left is kept too: an agent can be started from it to find out why. */
async function prepare(request: InstallRequest, log: BuildLogger, signal: AbortSignal): Promise<BuildOutcome> {
  const { machine, env } = request;
  const { failure, left } = await install(request, log, signal);
  signal.throwIfAborted();
  const output = writeOutput({ layers: await layersOf(machine), env, left });
  if (failure === null) return { status: "succeeded", output };
  log(`${failure}\n`);
  return { status: "failed", failure: { type: "INSTALL_FAILED" }, output };
}

/** From a stopped machine: nothing changes while it is read. */
async function layersOf(machine: Machine): Promise<string[]> {
  await machine.stop();
  return machine.snapshot();
}
