// The embedded PostgreSQL server: starts, crashes, and several processes on one data directory.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { eventually } from "@agentcli/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findBinaries, nativeFolder } from "../../src/foundation/db/binaries.ts";
import { clusterPaths, makeSocketDirectory } from "../../src/foundation/db/cluster-paths.ts";
import { type Database, inspectDatabase, openDatabase } from "../../src/foundation/db/index.ts";
import { findPostmaster, stopPostmaster } from "../../src/foundation/db/postmaster.ts";
import { chooseUser } from "../../src/foundation/db/run-as-user.ts";
import { silentLog } from "../../src/foundation/telemetry/index.ts";
import { programsOfTests } from "../harness/bundled.ts";

const bundled = programsOfTests();

let dataDirectory: string;
beforeEach(() => {
  // Longer than the limit for a socket path, with characters that a shell would interpret.
  dataDirectory = join(mkdtempSync(join(tmpdir(), "platform-data-")), "a 'long' name ".repeat(9).trim());
});
afterEach(async () => {
  for (const database of opened) await database.close();
  const { socketDirectory } = paths();
  await stopPostmaster(paths());
  rmSync(socketDirectory, { recursive: true, force: true });
  rmSync(join(dataDirectory, ".."), { recursive: true });
});

const paths = () => clusterPaths(dataDirectory, { variables: process.env });
const postmaster = () => findPostmaster(paths())?.pid ?? null;

const opened = new Set<Database>();

async function open(variables = process.env): Promise<Database> {
  const settings = { dataDirectory, databaseUrl: null, databaseConnections: 4, variables };
  const database = await openDatabase(settings, silentLog);
  const closing = {
    ...database,
    close: () => (opened.delete(closing) ? database.close() : Promise.resolve()),
  };
  opened.add(closing);
  return closing;
}

const addTeam = ({ db }: Database, name: string) =>
  db
    .insertInto("teams")
    .values({ name, data_key: Buffer.from("k") })
    .execute();
const teams = async ({ db }: Database) =>
  (await db.selectFrom("teams").select("name").orderBy("name").execute()).map(({ name }) => name);

test("a directory for its socket that cannot be made is named, with what helps", () => {
  const unwritable = { ...paths(), socketDirectory: "/proc/platform-socket" };
  const message = /has no directory: ENOENT.*'\/proc\/platform-socket'.*ReadWritePaths, or set DATABASE_URL/;
  expect(() => makeSocketDirectory(unwritable, null)).toThrow(message);
});

test("it is created on first use, shared, and stopped by the last process that closes it", async () => {
  const [first, second] = await Promise.all([open(), open()]);
  await addTeam(first, "a");
  expect(await teams(second)).toEqual(["a"]);
  const pid = postmaster();
  await first.close();
  expect(postmaster()).toBe(pid);
  await second.close();
  expect(postmaster()).toBeNull();
  expect(existsSync(paths().socketDirectory)).toBe(false);
  const again = await open();
  expect(await teams(again)).toEqual(["a"]);
  await again.close();
});

test("other users cannot read its files", async () => {
  const database = await open();
  const { cluster, passwordFile, logFile, socketDirectory } = paths();
  for (const path of [dataDirectory, cluster, passwordFile, logFile, socketDirectory])
    expect(statSync(path).mode & 0o077).toBe(0);
  await database.close();
});

test("it does not inherit our environment variables", async () => {
  const database = await open({ ...process.env, AGENT_API_KEY: "sk-secret" });
  expect(readFileSync(`/proc/${postmaster()}/environ`, "utf8")).not.toContain("sk-secret");
  await database.close();
});

test("it survives a platform server that is killed, and the next one attaches to it", async () => {
  const server = await startChild();
  const pid = postmaster();
  await kill(server);
  expect(postmaster()).toBe(pid);
  const next = await open();
  expect(postmaster()).toBe(pid);
  expect(await teams(next)).toEqual(["of the child"]);
  await next.close();
  expect(postmaster()).toBeNull();
});

test("killed together with the platform server, it recovers everything committed", async () => {
  for (let round = 0; round < 3; round++) {
    const server = await startChild();
    const pid = postmaster() ?? expect.fail("nothing runs");
    process.kill(pid, "SIGKILL");
    await kill(server);
    const next = await open();
    expect(await teams(next)).toContain("of the child");
    await next.db.deleteFrom("teams").execute();
    await next.close();
  }
});

test("killed under a running platform server, it is restarted", async () => {
  const database = await open();
  await addTeam(database, "before");
  const pid = postmaster() ?? expect.fail("nothing runs");
  process.kill(pid, "SIGKILL");
  await eventually(() => ![pid, null].includes(postmaster()));
  await eventually(async () => (await teams(database).catch(() => [])).length > 0);
  expect(await teams(database)).toEqual(["before"]);
  await database.close();
  expect(postmaster()).toBeNull();
});

test("one that runs behind a socket that is out of reach is named, instead of waited for", async () => {
  const database = await open();
  const { socketDirectory } = paths();
  renameSync(socketDirectory, `${socketDirectory}.private`);
  const settings = { dataDirectory, databaseUrl: null, databaseConnections: 4, variables: process.env };
  await expect(inspectDatabase(settings)).rejects.toThrow(
    new RegExp(`runs \\(process ${postmaster()}\\), but its socket ${socketDirectory}/.s.PGSQL.5432 is out of reach`),
  );
  renameSync(`${socketDirectory}.private`, socketDirectory);
  expect(await inspectDatabase(settings)).toMatchObject({ kind: "there", pending: [] });
  await database.close();
});

test("a pid file that names an unrelated running process is ignored", async () => {
  await (await open()).close();
  writeFileSync(join(paths().cluster, "postmaster.pid"), `${process.pid}\n${paths().cluster}\n1\n5432\n/tmp\n\n1 1\n`);
  const database = await open();
  expect(readlinkSync(`/proc/${postmaster()}/cwd`)).toBe(paths().cluster);
  await database.close();
});

test("without user namespaces, root runs it as another user in a directory that user can access", async () => {
  const isRoot = process.getuid?.() === 0;
  const withoutUnshare = { ...process.env, PATH: "/nowhere" };
  if (isRoot) await expect(open(withoutUnshare)).rejects.toThrow(/not run as root.*DATABASE_URL/);
  chmodSync(join(dataDirectory, ".."), 0o711);
  const database = await open(withoutUnshare);
  await addTeam(database, "a");
  expect(statSync(`/proc/${postmaster()}`).uid).not.toBe(0);
  await database.close();
});

test("without user namespaces, root runs a copy of programs that other users cannot reach", () => {
  const isRoot = process.getuid?.() === 0;
  chmodSync(join(dataDirectory, ".."), 0o711);
  // Below a directory of mode 0700, as a clone in the home of root is.
  using closed = copyWithoutLinks(nativeFolder());
  const { user, binaries } = chooseUser(paths(), "/nowhere", closed.native);
  expect(binaries.postgres.startsWith(paths().programDirectory)).toBe(isRoot);
  const env = { LD_LIBRARY_PATH: binaries.libraryPath ?? "" };
  const run = spawnSync(binaries.postgres, ["--version"], { env, encoding: "utf8", cwd: "/", ...user.identity });
  expect(run.stdout).toMatch(/\(PostgreSQL\) \d/);
});

test("libraries are found even if their symbolic links were never created", () => {
  using bare = copyWithoutLinks(nativeFolder());
  const { initdb, postgres, libraryPath } = findBinaries(join(dataDirectory, "links"), bare.native);
  const version = (program: string, env: NodeJS.ProcessEnv) =>
    spawnSync(program, ["--version"], { env, encoding: "utf8" });
  for (const program of [initdb, postgres]) {
    expect(version(program, {}).stderr).toContain("cannot open shared object file");
    expect(version(program, { LD_LIBRARY_PATH: libraryPath ?? "" }).stdout).toMatch(/\(PostgreSQL\) \d/);
  }
});

test("a cluster of another version is reported and not changed", async () => {
  mkdirSync(paths().cluster, { recursive: true });
  writeFileSync(join(paths().cluster, "PG_VERSION"), "9\n");
  await expect(open()).rejects.toThrow(/made by PostgreSQL 9, but the embedded one is \d+/);
});

test("an unreachable server of DATABASE_URL is reported without its password", async () => {
  const settings = { dataDirectory, databaseConnections: 1, variables: {} };
  const opening = openDatabase({ ...settings, databaseUrl: "postgres://me:hush@127.0.0.1:9/x" }, silentLog);
  await expect(opening).rejects.toThrow(/^Cannot open the PostgreSQL database at 127.0.0.1:9/);
  await expect(opening).rejects.not.toThrow(/hush/);
});

/** A process that opens the database, commits a team and waits. */
async function startChild(): Promise<ChildProcess> {
  const child = spawn(process.execPath, [await bundled("foundation/database-child.ts"), dataDirectory]);
  child.stderr.pipe(process.stderr);
  await once(createInterface(child.stdout), "line");
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}

/** As npm leaves the package when it runs no install scripts. */
function copyWithoutLinks(native: string): { native: string } & Disposable {
  const folder = mkdtempSync(join(native, "../../copy-"));
  for (const part of ["bin", "lib"]) {
    mkdirSync(join(folder, "native", part), { recursive: true });
    for (const entry of readdirSync(join(native, part), { withFileTypes: true }))
      if (entry.isFile()) linkSync(join(native, part, entry.name), join(folder, "native", part, entry.name));
  }
  for (const file of ["native/pg-symlinks.json", "package.json"])
    copyFileSync(join(native, "..", file), join(folder, file));
  return { native: join(folder, "native"), [Symbol.dispose]: () => rmSync(folder, { recursive: true }) };
}
