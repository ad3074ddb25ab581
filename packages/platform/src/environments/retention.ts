// Removes old builds with their logs, and layers that no machine will start from.
import { existsSync } from "node:fs";
import { type Kysely, sql } from "kysely";
import { inBatches, type RetentionRule, type Tables } from "../foundation/index.ts";
import type { Images } from "../images/index.ts";
import type { Machines } from "../machines/index.ts";
import { readOutput } from "./builds/output.ts";

/** Few: each removal is an entry of the audit log, whose writers wait for each other. */
const batchSize = 20;

/** The active build of an environment stays, however old it is. */
export const buildRetention = (db: Kysely<Tables>, days: number): RetentionRule => ({
  name: "environment builds",
  remove: () =>
    inBatches(async () => {
      const { numAffectedRows = 0n } = await sql`
        delete from environment_builds where id in (
          select id from environment_builds as due
          where completed_at < now() - ${days} * interval '1 day' and status <> 'IN_PROGRESS'
            and not exists (select from environments where active_build_id = due.id)
          limit ${batchSize} for update skip locked
        )
      `.execute(db);
      return Number(numAffectedRows);
    }),
});

export interface LayerRetention {
  db: Kysely<Tables>;
  machines: Pick<Machines, "directory" | "provider">;
  images: Pick<Images, "list" | "removeOlder">;
  buildDays: number;
  draftHours: number;
  now(): number;
}

const hour = 3_600_000;

/** Of this server's host. What a build in progress has made is not among its layers yet, but it is young. */
export const layerRetention = (options: LayerRetention): RetentionRule => ({
  name: "machine layers",
  in: "data directory",
  async *remove() {
    const { db, machines, images, buildDays, draftHours, now } = options;
    if (!existsSync(machines.directory)) return;
    images.removeOlder(now() - buildDays * 24 * hour);
    const built = await db.selectFrom("environment_builds").select("output").where("output", "is not", null).execute();
    const layers = built.flatMap(({ output }) => readOutput(output)?.layers ?? []);
    const keep = [...layers, ...images.list().map(({ digest }) => digest)];
    const provider = await machines.provider();
    yield await provider.removeLayers({ keep, before: now() - draftHours * hour });
  },
});
