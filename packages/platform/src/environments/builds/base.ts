// What the disk of a build begins with.
import type { Images } from "../../images/index.ts";
import type { MachineProvider } from "../../machines/index.ts";
import type { BuildLogger } from "./executor.ts";

export interface BuildBase {
  /** Top first. */
  layers: string[];
  env: Record<string, string>;
}

export interface BaseSources {
  provider: MachineProvider;
  images: Images;
}

/** The base image, or the system directories of the host. */
export async function platformBase({ provider, images }: BaseSources, log: BuildLogger): Promise<BuildBase> {
  const image = images.base();
  if (image !== null) {
    log(`Base: ${image.source} (${image.digest})\n`);
    return { layers: [image.digest], env: image.env };
  }
  log(
    "Base: the system directories of the host, read-only, so that no system packages can be installed. Make a base image with: platform image build\n",
  );
  return { layers: await hostLayers(provider), env: {} };
}

/** A machine without layers shows them; it is never started. */
async function hostLayers(provider: MachineProvider): Promise<string[]> {
  const limits = { memoryBytes: null, cpus: null, processes: null, diskBytes: null, temporaryBytes: null };
  const machine = await provider.create({ id: `host-base-${process.pid}-${++created}`, layers: [], limits });
  await machine.remove();
  return machine.layers;
}

let created = 0;
