// The embedded PostgreSQL: attached to where it runs, started where it does not. It may outlive a server that is killed.
import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, renameSync, statSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type pg from "pg";
import { chooseUser, handOver, libraries } from "./as-whom.ts";
import { findBinaries } from "./binaries.ts";
import { type Means, makeCluster } from "./cluster.ts";
import { type Connection, openClient } from "./connect.ts";
import { makeSocketDirectory, type Place, placeFor, readPassword, type Surroundings, socketPort } from "./place.ts";
import { findPostmaster, removeStalePidFile } from "./postmaster.ts";
import { DatabaseProblem } from "./problem.ts";

export interface EmbeddedOptions extends Surroundings {
  dataDirectory: string;
  /** `none` loses data with a crash of the machine: for tests. */
  durability: "full" | "none";
}

export interface Attached {
  place: Place;
  /** To the maintenance database. */
  client: pg.Client;
  connectionTo(database: string): Connection;
}

/** Several servers may do so at once. */
export async function attachOrStart(options: EmbeddedOptions): Promise<Attached> {
  const place = placeFor(options.dataDirectory, options);
  const triesOfStarting = 20;
  let trouble = "";
  for (let tries = 0; tries < triesOfStarting; tries++) {
    const attached = await attach(place);
    if (attached) return attached;
    const started = await start(place, options);
    if (started.kind === "ready") return started.attached;
    trouble = started.said;
    // Somebody else's may be on its way up or down, or the children of a killed one on their way out.
    await delay(250);
  }
  throw new DatabaseProblem(
    `The embedded PostgreSQL in ${place.cluster} does not start: ${trouble}. Its log is ${place.logFile}. Set DATABASE_URL to use another server.`,
  );
}

/** Null where nothing runs. Waits for one that is on its way up, which after a crash can take a while. */
async function attach(place: Place): Promise<Attached | null> {
  return waitFor(place, () => {
    const running = findPostmaster(place);
    return running && (running.socketDirectory ?? place.socketDirectory);
  });
}

const longestStartMs = 600_000;

/** Connects as soon as it can; null once there is no socket to expect any more. */
async function waitFor(place: Place, socketDirectory: () => string | null): Promise<Attached | null> {
  for (const end = Date.now() + longestStartMs; Date.now() < end; await delay(25)) {
    const directory = socketDirectory();
    if (directory === null) return null;
    const attached = await tryConnect(place, directory);
    if (attached) return attached;
  }
  throw new DatabaseProblem(
    `The embedded PostgreSQL in ${place.cluster} runs but has not been ready for 10 minutes. Look into ${place.logFile}.`,
  );
}

type Started = { kind: "ready"; attached: Attached } | { kind: "ended"; said: string };

async function start(place: Place, options: EmbeddedOptions): Promise<Started> {
  const means = meansOf(place, options);
  makeCluster(place, means);
  makeSocketDirectory(place, means.asWhom.identity?.uid ?? null);
  handOver(place.socketDirectory, means.asWhom);
  removeStalePidFile(place);
  const { hasEnded, said } = launch(place, means);
  const attached = await waitFor(place, () => (hasEnded() ? null : place.socketDirectory));
  return attached ? { kind: "ready", attached } : { kind: "ended", said: said() };
}

function meansOf(place: Place, { variables, durability }: EmbeddedOptions): Means {
  const path = variables.PATH ?? "";
  const binaries = findBinaries(place.linkDirectory);
  return { binaries, path, durability, asWhom: chooseUser(place, binaries, path) };
}

/** In a session of its own: neither the end of the server nor an interrupt in its terminal reaches it. */
function launch(place: Place, { binaries, asWhom, path, durability }: Means) {
  keepLogShort(place.logFile);
  const log = openSync(place.logFile, "a", 0o600);
  const begin = statSync(place.logFile).size;
  const [program = "", ...args] = [
    ...asWhom.prefix,
    binaries.postgres,
    "-D",
    place.cluster,
    ...parameters(place, durability),
  ];
  const env = { PATH: path, LC_ALL: "C", TZ: "UTC", ...libraries(binaries) };
  const child = spawn(program, args, { detached: true, stdio: ["ignore", log, log], env, ...asWhom.identity });
  closeSync(log);
  let end: string | null = null;
  child.on("error", (error) => (end = error.message));
  child.on("exit", (code, signal) => (end ??= `it ended with ${signal ?? `exit code ${code}`}`));
  child.unref();
  return { hasEnded: () => end !== null, said: () => lastWords(place.logFile, begin) || (end ?? "") };
}

/** Texts of statements and details of errors are what people wrote: they stay out of the log. */
function parameters({ socketDirectory }: Place, durability: Means["durability"]): string[] {
  const values = {
    listen_addresses: "",
    unix_socket_directories: socketDirectory,
    unix_socket_permissions: "0700",
    port: String(socketPort),
    max_connections: "200",
    shared_buffers: "64MB",
    jit: "off",
    log_min_error_statement: "panic",
    log_error_verbosity: "terse",
    ...(durability === "none" ? { fsync: "off", synchronous_commit: "off", full_page_writes: "off" } : {}),
  };
  return Object.entries(values).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}

async function tryConnect(place: Place, socketDirectory: string): Promise<Attached | null> {
  const connectionTo = (database: string) => ({ socketDirectory, password: readPassword(place), database });
  try {
    return { place, connectionTo, client: await openClient(connectionTo("postgres")) };
  } catch (error) {
    const { code = "", message } = error as Error & { code?: string };
    if (notYet.has(code) || /terminated unexpectedly/.test(message)) return null;
    throw new DatabaseProblem(`The embedded PostgreSQL in ${place.cluster} refuses us: ${message}.`, { cause: error });
  }
}

/** No socket, nobody behind it, starting up, shutting down. */
const notYet = new Set(["ENOENT", "ECONNREFUSED", "ECONNRESET", "EPIPE", "57P03", "57P01"]);

const mostLogBytes = 10 * 1024 * 1024;

function keepLogShort(logFile: string): void {
  const { size = 0 } = statSync(logFile, { throwIfNoEntry: false }) ?? {};
  if (size > mostLogBytes) renameSync(logFile, `${logFile}.1`);
}

function lastWords(logFile: string, begin: number): string {
  const lines = readFileSync(logFile).subarray(begin).toString("utf8").trim().split("\n");
  return lines.slice(-3).join(" ");
}
