// Removes sealed files that no artifact names: of a server that was killed while it stored or replaced one.
import type { Kysely } from "kysely";
import { type Objects, type RetentionRule, randomId, type Tables } from "../../foundation/index.ts";
import { artifactsPrefix } from "./objects.ts";

export interface ArtifactRetention {
  db: Kysely<Tables>;
  objects: Pick<Objects, "store" | "local">;
  draftHours: number;
  now(): number;
}

const batchSize = 500;

export const artifactRetention = (options: ArtifactRetention): RetentionRule => ({
  name: "unnamed artifacts",
  async *remove() {
    const { store, local } = options.objects;
    for (const each of new Set([store, local])) {
      let stale: Stored[] = [];
      for await (const { key, modifiedAt } of each.list(artifactsPrefix)) {
        const [, directory = "", blob = ""] = key.split("/");
        if (modifiedAt.getTime() < options.now() - options.draftHours * 3_600_000 && randomId.test(blob))
          stale.push({ key, directory, blob });
        if (stale.length < batchSize) continue;
        yield await removeUnnamed(options, each, stale);
        stale = [];
      }
      yield await removeUnnamed(options, each, stale);
    }
  },
});

interface Stored {
  key: string;
  directory: string;
  blob: string;
}

/** Of agents of this database only: in that of another platform, every file would look unnamed. */
async function removeUnnamed({ db }: ArtifactRetention, store: Objects["store"], stale: Stored[]): Promise<number> {
  if (stale.length === 0) return 0;
  const directories = [...new Set(stale.map(({ directory }) => directory))];
  const agents = await db.selectFrom("agents").select("directory").where("directory", "in", directories).execute();
  const known = new Set(agents.map(({ directory }) => directory));
  const blobs = stale.map(({ blob }) => blob);
  const named = await db.selectFrom("artifacts").select("blob").where("blob", "in", blobs).execute();
  const used = new Set(named.map(({ blob }) => blob));
  const unnamed = stale.filter(({ directory, blob }) => known.has(directory) && !used.has(blob));
  await store.remove(unnamed.map(({ key }) => key));
  return unnamed.length;
}
