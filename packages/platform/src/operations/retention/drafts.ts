// Unfinished files in the data directory: servers write a file beside its place and move it there, unless they are killed.
import { basename, dirname, join } from "node:path";
import { listStale, type RetentionRule, randomId, removeTree, type Settings } from "../../foundation/index.ts";

export type DraftSettings = Pick<Settings, "dataDirectory" | "kekFile" | "signingKey" | "retention">;

export const draftRetention = (settings: DraftSettings, now: () => number = Date.now): RetentionRule => ({
  name: "unfinished files",
  in: "data directory",
  async *remove() {
    const before = now() - settings.retention.draftHours * 3_600_000;
    for (const { path, suffix } of draftsOf(settings)) {
      const stale = await listStale({ directory: dirname(path), prefix: basename(path), suffix, before });
      for (const draft of stale) await removeTree(draft);
      if (stale.length > 0) yield stale.length;
    }
  },
});

interface Drafts {
  /** The beginning of their paths. */
  path: string;
  suffix: RegExp;
}

/** Of a process. Shorter than what a former key-encryption key ends with, which backups need. */
const pid = /^\d{1,7}$/;

const draftsOf = ({ dataDirectory, kekFile, signingKey }: DraftSettings): Drafts[] => [
  { path: join(dataDirectory, "audit-head."), suffix: randomId },
  { path: join(dataDirectory, "server.json."), suffix: pid },
  { path: join(dataDirectory, "postgres-password."), suffix: pid },
  { path: join(dataDirectory, "postgres."), suffix: /^\d{1,7}\.new(?:\.password)?$/ },
  { path: `${kekFile}.`, suffix: pid },
  { path: `${kekFile}.next.`, suffix: pid },
  { path: `${signingKey.path}.`, suffix: pid },
];
