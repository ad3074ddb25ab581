// Images of a server: makes them, and knows which one machines begin with where an environment names none.
import { join } from "node:path";
import type { Readable } from "node:stream";
import type { Settings } from "../foundation/index.ts";
import type { MachineLimits, MachineProvider } from "../machines/index.ts";
import { type DebianOptions, debianCommand, describeDebian } from "./debian.ts";
import { buildDockerfile, type DockerfileRequest } from "./dockerfile.ts";
import { type ImageLog, importArchive, importOutput } from "./make.ts";
import { type ImageRecord, openImageRecords } from "./records.ts";

export interface Images {
  list(): ImageRecord[];
  /** Null: machines have the system directories of the host, read-only. */
  base(): ImageRecord | null;
  setBase(digest: string): void;
  /** Neither the base nor one that was made since; its layer stays until it is removed. */
  removeOlder(before: number): void;
  /** Unpacks a tar archive of a root directory. Throws ImageFault. */
  importArchive(archive: Readable, source: string): Promise<ImageRecord>;
  /** Throws ImageFault. */
  buildDebian(options: DebianOptions, output: ImageLog): Promise<ImageRecord>;
  /** Throws ImageFault. */
  buildDockerfile(request: DockerfileRequest, output: ImageLog): Promise<ImageRecord>;
}

export interface ImagesOptions {
  settings: Pick<Settings, "dataDirectory">;
  provider(): Promise<MachineProvider>;
  /** Of a build from a Dockerfile, as of a machine. */
  limits: MachineLimits;
}

export function openImages({ settings, provider, limits }: ImagesOptions): Images {
  const records = openImageRecords(join(settings.dataDirectory, "images"));
  const add = (image: Pick<ImageRecord, "digest" | "source" | "env">): ImageRecord => {
    const record = { ...image, madeAt: new Date().toISOString() };
    records.add(record);
    return record;
  };
  return {
    list: records.list,
    base: records.base,
    setBase: records.setBase,
    removeOlder(before) {
      const base = records.base()?.digest;
      for (const { digest, madeAt } of records.list())
        if (digest !== base && Date.parse(madeAt) < before) records.remove(digest);
    },
    importArchive: async (archive, source) =>
      add({ digest: await importArchive(await provider(), archive, source), source, env: {} }),
    async buildDebian(options, output) {
      const digest = await importOutput(await provider(), debianCommand(options), output);
      return add({ digest, source: describeDebian(options), env: {} });
    },
    async buildDockerfile(request, output) {
      const image = await buildDockerfile(request, { provider: await provider(), limits }, output);
      return add({ ...image, source: request.dockerfile });
    },
  };
}
