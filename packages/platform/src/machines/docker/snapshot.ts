// Makes layers of the disk of a machine.
import { maxLayers } from "../parts/index.ts";
import type { MachineSpec } from "../provider.ts";
import { containerName, findContainer } from "./container.ts";
import { commit, prepareContainer } from "./disk.ts";
import type { DockerHost } from "./host.ts";

/** Top first. At the maximum depth all layers become one. */
export async function takeSnapshot(host: DockerHost, spec: MachineSpec): Promise<string[]> {
  const { engine, layers } = host;
  const name = containerName(host.owner, spec.id);
  if ((await findContainer(engine, name)) === null)
    await prepareContainer(host, spec, { directories: [], limits: spec.limits });
  if (spec.layers.length >= maxLayers) {
    const hostPaths = spec.layers.flatMap((digest) => layers.notes(digest).hostPaths);
    return [await layers.unpack(await engine.download(`/containers/${name}/export`), { hostPaths })];
  }
  const image = await commit(host, spec.id);
  try {
    return await layers.keep(image);
  } finally {
    // Its layers stay, because an image of the provider has them.
    await engine.call("DELETE", `/images/${image}`).catch(() => {});
  }
}
