// Images of a server: makes them, and knows which one machines begin with where an environment names none.
import { join } from "node:path";
import type { Readable } from "node:stream";
import type { Settings } from "../foundation/index.ts";
import type { MachineProvider } from "../machines/index.ts";
import { type ImageRecord, openImageRecords } from "./records.ts";

export interface Images {
  list(): ImageRecord[];
  /** Null: machines have the system directories of the host, read-only. */
  base(): ImageRecord | null;
  setBase(digest: string): void;
  /** Unpacks a tar archive of a root directory. */
  importArchive(archive: Readable, source: string): Promise<ImageRecord>;
}

export interface ImagesOptions {
  settings: Pick<Settings, "dataDirectory">;
  provider(): Promise<MachineProvider>;
}

export function openImages({ settings, provider }: ImagesOptions): Images {
  const records = openImageRecords(join(settings.dataDirectory, "images"));
  return {
    list: records.list,
    base: records.base,
    setBase: records.setBase,
    async importArchive(archive, source) {
      const digest = await (await provider()).importBase(archive);
      const record = { digest, source, madeAt: new Date().toISOString(), env: {} };
      records.add(record);
      return record;
    },
  };
}
