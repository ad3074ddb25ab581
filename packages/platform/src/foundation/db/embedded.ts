// The embedded PostgreSQL: attached to where it runs, started where it does not. It may outlive a server that is killed.
import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, renameSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { trustedPath } from "@agentcli/workspace";
import type pg from "pg";
import { type Means, makeCluster } from "./cluster.ts";
import {
  type ClusterEnvironment,
  type ClusterPaths,
  clusterPaths,
  makeSocketDirectory,
  readPassword,
  socketName,
  socketPort,
} from "./cluster-paths.ts";
import { type Connection, openClient } from "./connect.ts";
import { DatabaseError } from "./database-error.ts";
import { findPostmaster, removeStalePidFile } from "./postmaster.ts";
import { chooseUser, handOver, libraries } from "./run-as-user.ts";

export interface EmbeddedOptions extends ClusterEnvironment {
  dataDirectory: string;
  /** `none` loses data with a crash of the machine: for tests. */
  durability: "full" | "none";
}

export interface AttachedCluster {
  paths: ClusterPaths;
  /** To the maintenance database. */
  client: pg.Client;
  connectionTo(database: string): Connection;
}

/** Several servers may do so at once. */
export async function attachOrStart(options: EmbeddedOptions): Promise<AttachedCluster> {
  const paths = clusterPaths(options.dataDirectory, options);
  const triesOfStarting = 20;
  let failure = "";
  for (let tries = 0; tries < triesOfStarting; tries++) {
    const attached = await attach(paths);
    if (attached) return attached;
    const started = await start(paths, options);
    if (started.kind === "ready") return started.attached;
    failure = started.output;
    // Another process may be starting or stopping it, or children of a killed one may still be exiting.
    await delay(250);
  }
  throw new DatabaseError(
    `The embedded PostgreSQL in ${paths.cluster} does not start: ${failure}. Its log is ${paths.logFile}. Set DATABASE_URL to use another server.`,
  );
}

/** Null where nothing runs. Waits for one that is on its way up, which after a crash can take a while. */
async function attach(paths: ClusterPaths): Promise<AttachedCluster | null> {
  let reachableMs = Date.now();
  return waitFor(paths, () => {
    const running = findPostmaster(paths);
    if (running === null) return null;
    const directory = running.socketDirectory ?? paths.socketDirectory;
    if (!running.isReady || existsSync(join(directory, socketName))) reachableMs = Date.now();
    if (Date.now() - reachableMs > maxUnreachableMs) throw unreachable(paths, directory, running.pid);
    return directory;
  });
}

/** One that is ready has its socket; one that stops says so before it removes it. */
const maxUnreachableMs = 3_000;

const unreachable = ({ cluster }: ClusterPaths, directory: string, pid: number) =>
  new DatabaseError(
    `The embedded PostgreSQL in ${cluster} runs (process ${pid}), but its socket ${join(directory, socketName)} is out of reach: it was removed, or the server has a private ${dirname(directory)}, as a systemd unit with PrivateTmp or a container does. Run this command where the server runs, or stop the server, and this process if it is still there, and try again.`,
  );

const startTimeoutMs = 600_000;

/** Connects as soon as it can; null once there is no socket to expect any more. */
async function waitFor(paths: ClusterPaths, socketDirectory: () => string | null): Promise<AttachedCluster | null> {
  for (const end = Date.now() + startTimeoutMs; Date.now() < end; await delay(25)) {
    const directory = socketDirectory();
    if (directory === null) return null;
    const attached = await tryConnect(paths, directory);
    if (attached) return attached;
  }
  throw new DatabaseError(
    `The embedded PostgreSQL in ${paths.cluster} runs but has not been ready for 10 minutes. See ${paths.logFile}.`,
  );
}

type StartResult = { kind: "ready"; attached: AttachedCluster } | { kind: "ended"; output: string };

async function start(paths: ClusterPaths, options: EmbeddedOptions): Promise<StartResult> {
  const means = meansOf(paths, options);
  makeCluster(paths, means);
  makeSocketDirectory(paths, means.user.identity?.uid ?? null);
  handOver(paths.socketDirectory, means.user);
  removeStalePidFile(paths);
  const { hasEnded, output } = launch(paths, means);
  const attached = await waitFor(paths, () => (hasEnded() ? null : paths.socketDirectory));
  return attached ? { kind: "ready", attached } : { kind: "ended", output: output() };
}

function meansOf(paths: ClusterPaths, { variables, durability }: EmbeddedOptions): Means {
  const path = trustedPath({ path: variables.PATH ?? "", untrusted: [paths.dataDirectory] });
  return { path, durability, ...chooseUser(paths, path) };
}

/** In a session of its own: neither the end of the server nor an interrupt in its terminal reaches it. */
function launch(paths: ClusterPaths, { binaries, user, path, durability }: Means) {
  keepLogShort(paths.logFile);
  const log = openSync(paths.logFile, "a", 0o600);
  const begin = statSync(paths.logFile).size;
  const [program = "", ...args] = [
    ...user.prefix,
    binaries.postgres,
    "-D",
    paths.cluster,
    ...parameters(paths, durability),
  ];
  const env = { PATH: path, LC_ALL: "C", TZ: "UTC", ...libraries(binaries) };
  const child = spawn(program, args, { detached: true, stdio: ["ignore", log, log], env, ...user.identity });
  closeSync(log);
  let end: string | null = null;
  child.on("error", (error) => (end = error.message));
  child.on("exit", (code, signal) => (end ??= `it ended with ${signal ?? `exit code ${code}`}`));
  child.unref();
  return { hasEnded: () => end !== null, output: () => lastWords(paths.logFile, begin) || (end ?? "") };
}

/** Texts of statements and details of errors are what people wrote: they stay out of the log. */
function parameters({ socketDirectory }: ClusterPaths, durability: Means["durability"]): string[] {
  const values = {
    listen_addresses: "",
    unix_socket_directories: socketDirectory,
    unix_socket_permissions: "0700",
    port: String(socketPort),
    // Tests of many servers share one database.
    max_connections: durability === "none" ? "500" : "200",
    shared_buffers: "64MB",
    jit: "off",
    log_min_error_statement: "panic",
    log_error_verbosity: "terse",
    ...(durability === "none" ? { fsync: "off", synchronous_commit: "off", full_page_writes: "off" } : {}),
  };
  return Object.entries(values).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}

async function tryConnect(paths: ClusterPaths, socketDirectory: string): Promise<AttachedCluster | null> {
  const connectionTo = (database: string) => ({ socketDirectory, password: readPassword(paths), database });
  try {
    return { paths, connectionTo, client: await openClient(connectionTo("postgres")) };
  } catch (error) {
    const { code = "", message } = error as Error & { code?: string };
    if (notYet.has(code) || /terminated unexpectedly/.test(message)) return null;
    const reason = /timeout expired/.test(message)
      ? "runs, but does not answer: it is paused or overloaded. Look at its processes, then try again."
      : `refused the connection: ${message}.`;
    throw new DatabaseError(`The embedded PostgreSQL in ${paths.cluster} ${reason}`, { cause: error });
  }
}

/** No socket, no process behind it, starting up, shutting down. */
const notYet = new Set(["ENOENT", "ECONNREFUSED", "ECONNRESET", "EPIPE", "57P03", "57P01"]);

const maxLogBytes = 10 * 1024 * 1024;

function keepLogShort(logFile: string): void {
  const { size = 0 } = statSync(logFile, { throwIfNoEntry: false }) ?? {};
  if (size > maxLogBytes) renameSync(logFile, `${logFile}.1`);
}

function lastWords(logFile: string, begin: number): string {
  const lines = readFileSync(logFile).subarray(begin).toString("utf8").trim().split("\n");
  return lines.slice(-3).join(" ");
}
