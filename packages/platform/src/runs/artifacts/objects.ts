// Sealed artifacts as objects. Those of a time before there was an object store are in the data directory.
import { type Objects, readAll } from "../../foundation/index.ts";

export const artifactsPrefix = "artifacts/";

export const artifactKey = (directory: string, blob: string): string => `${artifactsPrefix}${directory}/${blob}`;

/** Null if it is gone, or in the data directory of another server. */
export async function readArtifact({ store, local }: Objects, key: string): Promise<Buffer | null> {
  const found = (await store.get(key)) ?? (await local.get(key));
  return found && readAll(found);
}

/** Of the agent with this directory. */
export async function removeArtifacts(objects: Objects, directory: string): Promise<void> {
  for (const store of new Set([objects.store, objects.local])) await store.removeAll(`${artifactsPrefix}${directory}`);
}

export async function removeEverywhere({ store, local }: Objects, keys: string[]): Promise<void> {
  for (const each of new Set([store, local])) await each.remove(keys);
}
