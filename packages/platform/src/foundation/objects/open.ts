// The object store that the settings name, and the one in the data directory.
import type { ObjectStoreSettings, Settings } from "../config/index.ts";
import { checkDirectory, openDirectoryStore } from "./directory.ts";
import type { ObjectStore } from "./object-store.ts";
import { openS3Store, type S3Options } from "./s3.ts";

export interface Objects {
  /** Where objects are written: the store of the settings, otherwise the data directory. */
  store: ObjectStore;
  /** Of this data directory alone: what was written before there was another store. */
  local: ObjectStore;
  /** Whether other servers read the same objects, whatever data directory they have. */
  isShared: boolean;
}

export function openObjects({ dataDirectory, objectStore, variables }: Settings): Objects {
  const local = openDirectoryStore(dataDirectory);
  if (objectStore === null) return { store: local, local, isShared: false };
  return { store: openStore(objectStore, variables), local, isShared: true };
}

function openStore(
  settings: ObjectStoreSettings,
  variables: Settings["variables"],
  attempts: Pick<S3Options, "pausesMs" | "retries"> = {},
): ObjectStore {
  if (settings.kind === "directory") return openDirectoryStore(settings.path);
  const { accessKeyVariable, secretKeyVariable, sessionTokenVariable, ...bucket } = settings;
  return openS3Store({
    ...bucket,
    ...attempts,
    credentials: () => ({
      accessKeyId: variables[accessKeyVariable] ?? "",
      secretAccessKey: variables[secretKeyVariable] ?? "",
      sessionToken: variables[sessionTokenVariable],
    }),
  });
}

/** An operator waits for the answer. */
const oneMoreAttempt = { pausesMs: [500], retries: 1 };

/** Writes, reads and removes an object. Throws what is wrong with the store. */
export async function checkObjects(settings: Settings): Promise<string> {
  const { objectStore } = settings;
  if (objectStore?.kind === "directory") await checkDirectory(objectStore.path);
  const store = objectStore ? openStore(objectStore, settings.variables, oneMoreAttempt) : openObjects(settings).store;
  const key = `checks/${process.pid}-${Date.now()}`;
  const { sizeBytes } = await store.put(key, Buffer.from("check"));
  const found = await store.get(key);
  found?.stream.destroy();
  await store.remove([key]);
  if (found?.sizeBytes !== sizeBytes) throw new Error(`${store.description} did not return what was written to it.`);
  return store.description;
}
