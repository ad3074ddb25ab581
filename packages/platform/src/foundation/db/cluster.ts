// The files of an embedded PostgreSQL: made once, also when several servers start at the same time.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Binaries } from "./binaries.ts";
import { type ClusterPaths, readPassword } from "./cluster-paths.ts";
import { DatabaseError } from "./database-error.ts";
import { handOver, libraries, type RunAsUser } from "./run-as-user.ts";

export const superuser = "platform";

export interface Means {
  binaries: Binaries;
  user: RunAsUser;
  /** PATH. */
  path: string;
  durability: "full" | "none";
}

/** Created beside its final path and moved there: of two processes, the second finds it present. */
export function makeCluster(paths: ClusterPaths, means: Means): void {
  if (existsSync(join(paths.cluster, "PG_VERSION"))) {
    checkVersion(paths, means);
    return;
  }
  const draft = `${paths.cluster}.${process.pid}.new`;
  const passwordFile = `${draft}.password`;
  try {
    mkdirSync(draft, { mode: 0o700 });
    writeFileSync(passwordFile, readPassword(paths), { mode: 0o600 });
    for (const path of [draft, passwordFile]) handOver(path, means.user);
    runInitdb(draft, passwordFile, means);
    moveUnlessTaken(draft, paths.cluster);
  } finally {
    for (const path of [draft, passwordFile]) rmSync(path, { recursive: true, force: true });
  }
}

function runInitdb(draft: string, passwordFile: string, { binaries, user, path, durability }: Means): void {
  const [program = "", ...args] = [
    ...user.prefix,
    binaries.initdb,
    `--pgdata=${draft}`,
    `--username=${superuser}`,
    `--pwfile=${passwordFile}`,
    ...["--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-instructions"],
    ...syncing(durability),
  ];
  const run = spawnSync(program, args, {
    env: { PATH: path, LC_ALL: "C", ...libraries(binaries) },
    encoding: "utf8",
    ...user.identity,
  });
  if (run.status === 0) return;
  const output = (run.error?.message ?? run.stderr).trim();
  throw new DatabaseError(
    `The embedded PostgreSQL could not be set up in ${draft}: ${output}. Set DATABASE_URL to a PostgreSQL server, or fix that and start again.`,
  );
}

/** One call for the whole file system instead of a thousand: 2.4 s against 3.5 on a busy disk. Only Linux has it. */
function syncing(durability: Means["durability"]): string[] {
  if (durability === "none") return ["--no-sync"];
  return process.platform === "linux" ? ["--sync-method=syncfs"] : [];
}

function moveUnlessTaken(draft: string, target: string): void {
  try {
    chmodSync(draft, 0o700);
    renameSync(draft, target);
    syncDirectory(dirname(target));
  } catch (error) {
    const isTaken = ["ENOTEMPTY", "EEXIST"].includes((error as NodeJS.ErrnoException).code ?? "");
    if (!isTaken) throw error;
  }
}

/** So that the name lasts as long as what is under it. */
function syncDirectory(path: string): void {
  const directory = openSync(path, "r");
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

function checkVersion({ cluster }: ClusterPaths, { binaries, path }: Means): void {
  const made = readFileSync(join(cluster, "PG_VERSION"), "utf8").trim();
  const run = spawnSync(binaries.postgres, ["--version"], {
    env: { PATH: path, ...libraries(binaries) },
    encoding: "utf8",
  });
  const ours = /(\d+)(?:\.\d+)*/.exec(run.stdout ?? "")?.[1];
  if (run.status === 0 && ours !== made)
    throw new DatabaseError(
      `${cluster} was made by PostgreSQL ${made}, but the embedded one is ${ours}. Start it with the previous version of the platform and move the data to this one.`,
    );
}
