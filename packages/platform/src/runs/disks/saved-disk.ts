// A saved disk in the object store: a sealed list of its entries, and packs with the contents of its files.
import { gunzipSync, gzipSync } from "node:zlib";
import {
  type DataKey,
  type ObjectStore,
  ObjectStoreFault,
  openBlocks,
  type PlatformContext,
  sealBlocks,
} from "../../foundation/index.ts";
import { removeState } from "./local-state.ts";
import type { DiskEntry } from "./scan.ts";

export interface DiskOwner {
  agent: { id: string; directory: string };
  key: DataKey;
}

export interface SavedDisks {
  /** False if there was nothing to store. */
  putPack(pack: string, contents: AsyncGenerator<Buffer>): Promise<boolean>;
  putEntries(saveId: string, entries: DiskEntry[]): Promise<void>;
  readEntries(saveId: string): Promise<DiskEntry[]>;
  readPack(pack: string): Promise<AsyncGenerator<Buffer>>;
  /** Packs and lists by name. */
  remove(names: string[]): Promise<void>;
}

/** The store does not have what the database says it has. */
export class IncompleteSave extends ObjectStoreFault {
  override name = "IncompleteSave";
}

const disksPrefix = "disks";

export function openSavedDisks(store: ObjectStore, { agent, key }: DiskOwner): SavedDisks {
  const keyOf = (name: string): string => `${disksPrefix}/${agent.directory}/${name}`;
  const sealOf = (name: string) => ({ key, about: `disk:${agent.id}:${name}` });
  const readPack = async (name: string): Promise<AsyncGenerator<Buffer>> => {
    const found = await store.get(keyOf(name));
    if (found === null) throw new IncompleteSave(missing(store, keyOf(name)));
    return openBlocks(found.stream, sealOf(name));
  };
  return {
    readPack,
    async putPack(pack, contents) {
      const first = await contents.next();
      if (first.done) return false;
      await store.put(keyOf(pack), sealBlocks(prepend(first.value, contents), sealOf(pack)));
      return true;
    },
    async putEntries(saveId, entries) {
      const bytes = gzipSync(JSON.stringify(entries.map(({ seen: _seen, ...entry }) => entry)), { level: 1 });
      await store.put(keyOf(saveId), sealBlocks(prepend(bytes), sealOf(saveId)));
    },
    async readEntries(saveId) {
      const blocks: Buffer[] = [];
      for await (const block of await readPack(saveId)) blocks.push(block);
      return JSON.parse(gunzipSync(Buffer.concat(blocks)).toString());
    },
    remove: (names) => store.remove(names.map(keyOf)),
  };
}

/** Of the agent with this directory, in the store and what this server noted of it. */
export async function removeSavedDisk(
  { objects, settings }: Pick<PlatformContext, "objects" | "settings">,
  directory: string,
): Promise<void> {
  await objects.store.removeAll(`${disksPrefix}/${directory}`);
  await removeState(settings, directory);
}

const missing = (store: ObjectStore, key: string): string =>
  `The files of this agent are not complete in the object store: ${key} is missing in ${store.description}. Restore it, then send another prompt.`;

async function* prepend(first: Buffer, rest?: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  if (rest) yield* rest;
}
