// Removes sealed files that no artifact names: of a server that was killed while it stored or replaced one.
import { basename, join } from "node:path";
import type { Kysely } from "kysely";
import { listNames, listStale, type RetentionRule, randomId, removeTree, type Tables } from "../../foundation/index.ts";

export interface ArtifactRetention {
  db: Kysely<Tables>;
  dataDirectory: string;
  draftHours: number;
  now(): number;
}

const batchSize = 50;

export const artifactRetention = (options: ArtifactRetention): RetentionRule => ({
  name: "unnamed artifacts",
  async *remove() {
    const root = join(options.dataDirectory, "artifacts");
    const names = await listNames(root);
    for (let at = 0; at < names.length; at += batchSize) {
      const unnamed = await findUnnamed(options, root, names.slice(at, at + batchSize));
      for (const path of unnamed) await removeTree(path);
      yield unnamed.length;
    }
  },
});

async function findUnnamed({ db, draftHours, now }: ArtifactRetention, root: string, names: string[]) {
  const before = now() - draftHours * 3_600_000;
  const agents = await db.selectFrom("agents").select("directory").where("directory", "in", names).execute();
  const lists = agents.map(({ directory }) =>
    listStale({ directory: join(root, directory), suffix: randomId, before }),
  );
  const stored = (await Promise.all(lists)).flat();
  if (stored.length === 0) return [];
  const named = await db.selectFrom("artifacts").select("blob").where("blob", "in", stored.map(nameOf)).execute();
  const blobs = new Set(named.map(({ blob }) => blob));
  return stored.filter((path) => !blobs.has(nameOf(path)));
}

const nameOf = (path: string): string => basename(path);
