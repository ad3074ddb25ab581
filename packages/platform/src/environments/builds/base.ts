// What the disk of a build begins with.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buildPaths } from "@agentcli/project/environment";
import type { Images } from "../../images/index.ts";
import type { MachineProvider } from "../../machines/index.ts";
import type { BuildLogger, BuildOrder } from "./executor.ts";

export interface BuildBase {
  /** Top first. */
  layers: string[];
  env: Record<string, string>;
}

export interface BaseSources {
  provider: MachineProvider;
  images: Images;
}

export interface BaseRequest extends BaseSources {
  order: BuildOrder;
  /** For the files of this build, while it runs. */
  directory: string;
}

/** Throws ImageFault where an image cannot be made. */
export function prepareBase(request: BaseRequest, log: BuildLogger, signal: AbortSignal): Promise<BuildBase> {
  const { config } = request.order;
  if (config.build || config.image) return imageBase(request, log, signal);
  if (config.snapshot)
    log(
      `Warning: there is no snapshot ${config.snapshot}. The platform's own base is used instead, and install runs.\n`,
    );
  return platformBase(request, log);
}

/** A reference of an image is a Dockerfile of one line. */
async function imageBase(
  { images, order, directory }: BaseRequest,
  log: BuildLogger,
  signal: AbortSignal,
): Promise<BuildBase> {
  const { config, repositories } = order;
  const checkout = join(directory, "image-files");
  await mkdir(checkout, { recursive: true });
  const first = repositories[0]?.name ?? "";
  if (config.build) await order.checkOut(checkout, signal);
  const repository = config.build ? join(checkout, first) : checkout;
  const paths = config.build ? buildPaths(config.build) : { dockerfile: "Dockerfile", context: "" };
  if (!config.build) await writeFile(join(checkout, paths.dockerfile), `FROM ${config.image}\n`);
  log(`Building ${config.build ? paths.dockerfile : config.image} with buildah\n`);
  const hosts = { allowedHosts: order.allowedHosts, secrets: order.secrets, onDenied: log };
  const image = await images.buildDockerfile({ directory, repository, ...paths, ...hosts }, { log, signal });
  log(`Base: the image ${image.digest}\n`);
  return { layers: [image.digest], env: image.env };
}

/** The base image, or the system directories of the host. */
async function platformBase({ provider, images }: BaseSources, log: BuildLogger): Promise<BuildBase> {
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
