import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { temporaryDirectory } from "@agentcli/testkit";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openDirectoryStore, sealBlocks } from "../../src/foundation/objects/index.ts";
import { readDataId } from "../../src/foundation/storage/index.ts";
import { restoreDisk } from "../../src/runs/disks/restore.ts";
import { readDisk, readDiskWait, reportDataDirectory, writeDisk } from "../../src/runs/disks/rows.ts";
import { openRunDisk, type RunDisk } from "../../src/runs/disks/run-disk.ts";
import { openSavedDisks, type SavedDisks } from "../../src/runs/disks/saved-disk.ts";
import { type DiskEntry, type DiskRoots, identifyFiles, type Scan, scanDisk } from "../../src/runs/disks/scan.ts";
import { openLeases } from "../../src/runs/index.ts";
import { openFixture } from "../harness/fixture.ts";

let fixture: Awaited<ReturnType<typeof openFixture>>;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture.close());

let directory: string;
let saved: SavedDisks;
beforeEach(async () => void (await fixture.platform.db.deleteFrom("agents").execute()));
beforeEach(async () => {
  const temporary = await temporaryDirectory();
  directory = temporary.path;
  const { key } = await fixture.platform.vault.newDataKey();
  saved = openSavedDisks(openDirectoryStore(join(directory, "objects")), {
    agent: { id: "bc-1", directory: "bc-1" },
    key,
  });
  return () => temporary.remove();
});

const rootsIn = (name: string): DiskRoots => ({
  workspace: join(directory, name, "workspace"),
  host: join(directory, name, "host"),
});

async function save(roots: DiskRoots, { pack, former = [] }: { pack: string; former?: DiskEntry[] }): Promise<Scan> {
  const scan: Scan = { entries: [], isChanged: false };
  const byPath = new Map(former.map((entry) => [entry.path, entry]));
  await saved.putPack(pack, scanDisk({ roots, former: byPath, pack }, scan));
  await saved.putEntries(`list-${pack}`, scan.entries);
  return scan;
}

/** Links, an empty file, one of several blocks, a name that is not text, a directory that may not be written. */
function fillRoots(roots: DiskRoots): Buffer {
  for (const root of Object.values(roots)) mkdirSync(root, { recursive: true });
  mkdirSync(join(roots.workspace, "src/closed"), { recursive: true });
  writeFileSync(join(roots.workspace, "src/large"), Buffer.alloc(2_500_000, "large "));
  writeFileSync(join(roots.workspace, "src/empty"), "");
  writeFileSync(join(roots.workspace, "src/closed/run.sh"), "#!/bin/sh\n");
  chmodSync(join(roots.workspace, "src/closed/run.sh"), 0o755);
  symlinkSync("../../outside", join(roots.workspace, "src/link"));
  const odd = Buffer.concat([Buffer.from(`${roots.workspace}/odd-`), Buffer.of(0xff)]);
  writeFileSync(odd, "odd");
  chmodSync(join(roots.workspace, "src/closed"), 0o555);
  mkdirSync(join(roots.host, "shop.git/objects/info"), { recursive: true });
  writeFileSync(join(roots.host, "shop.git/objects/info/alternates"), "/a/directory/of/this/server\n");
  writeFileSync(join(roots.host, "shop.git/HEAD"), "ref: refs/heads/main\n");
  return odd;
}

test("a restored disk has every file, link and mode of the saved one, and nothing that names its server", async () => {
  const roots = rootsIn("first");
  fillRoots(roots);
  await save(roots, { pack: "pack-1" });
  const copy = rootsIn("second");
  mkdirSync(join(directory, "second"));
  await restoreDisk(saved, await saved.readEntries("list-pack-1"), copy);
  expect(readFileSync(join(copy.workspace, "src/large"))).toEqual(readFileSync(join(roots.workspace, "src/large")));
  expect(readFileSync(join(copy.workspace, "src/empty"), "utf8")).toBe("");
  expect(readlinkSync(join(copy.workspace, "src/link"))).toBe("../../outside");
  expect(lstatSync(join(copy.workspace, "src/closed/run.sh")).mode & 0o777).toBe(0o755);
  expect(lstatSync(join(copy.workspace, "src/closed")).mode & 0o777).toBe(0o555);
  const names = readdirSync(copy.workspace, { encoding: "buffer" }).map((name) => name.toString("latin1"));
  expect(names.sort()).toEqual(["odd-\u00ff", "src"]);
  expect(readdirSync(join(copy.host, "shop.git"), { recursive: true }).sort()).toEqual([
    "HEAD",
    "objects",
    "objects/info",
  ]);
});

test("a second save stores what changed, and the restored disk lacks what was removed", async () => {
  const roots = rootsIn("first");
  fillRoots(roots);
  const first = await save(roots, { pack: "pack-1" });
  const settled = first.entries.map((entry) => settle(roots, entry));
  expect((await save(roots, { pack: "pack-2", former: settled })).isChanged).toBe(false);
  writeFileSync(join(roots.workspace, "src/new"), "new");
  rmSync(join(roots.workspace, "src/empty"));
  const second = await save(roots, { pack: "pack-3", former: settled });
  expect(second.isChanged).toBe(true);
  const inNew = second.entries.filter(({ pack }) => pack === "pack-3").map(({ path }) => path);
  expect(inNew).toEqual(["workspace/src/new"]);
  const copy = rootsIn("second");
  mkdirSync(join(directory, "second"));
  await restoreDisk(saved, await saved.readEntries("list-pack-3"), copy);
  expect(readdirSync(join(copy.workspace, "src")).sort()).toEqual(["closed", "large", "link", "new"]);
});

test("what was restored is not stored again by the next save, only what changed since", async () => {
  const roots = rootsIn("first");
  fillRoots(roots);
  const { entries } = await save(roots, { pack: "pack-1" });
  const copy = rootsIn("second");
  mkdirSync(join(directory, "second"));
  await restoreDisk(saved, entries, copy);
  const former = await identifyFiles(copy, entries);
  expect((await save(copy, { pack: "pack-2", former })).isChanged).toBe(false);
  writeFileSync(join(copy.workspace, "src/empty"), "filled");
  const next = await save(copy, { pack: "pack-3", former });
  const packs = next.entries.flatMap(({ path, pack }) => (pack === undefined ? [] : [[path, pack]]));
  expect(packs.filter(([, pack]) => pack !== "pack-1")).toEqual([["workspace/src/empty", "pack-3"]]);
});

interface OpenedDisk {
  maxEntries: number;
  /** Of the data directory and its server. */
  at?: string;
  isOnWorker?: boolean;
  isResumed?: boolean;
  isShared?: boolean;
}

/** An agent with files, whose run was claimed. */
async function newDisk() {
  const { platform } = fixture;
  const { agentId, runId } = await fixture.newAgent();
  const claim = await openLeases(platform.db, { nodeId: "own", leaseMs: 60_000, dataId: "data-a" }).claim();
  const roots = rootsIn("first");
  fillRoots(roots);
  const store = openDirectoryStore(join(directory, "objects"));
  const { key } = await platform.vault.newDataKey();
  const fence = { runId, epoch: claim?.epoch ?? 0 };
  const agent = { id: agentId, directory: agentId };
  const fetchedAt: string[] = [];
  const removedAt: string[] = [];
  const open = ({ maxEntries, at = "a", isOnWorker = false, isResumed = false, isShared = true }: OpenedDisk) => {
    // Each data directory has its own notes of what was saved.
    const settings = { ...platform.settings, dataDirectory: join(directory, `data-${at}`) };
    const disk = openRunDisk({
      platform: { ...platform, settings, objects: { store, local: store, isShared } },
      workspaces: {
        directories: () => roots,
        async replace() {
          fetchedAt.push(at);
        },
        async remove() {
          removedAt.push(at);
        },
      },
      location: { dataId: `data-${at}`, nodeName: `node-${at}` },
      run: { agent, key, fence, isOnWorker, isResumed },
      maxEntries,
    });
    const work = {} as Parameters<RunDisk["prepare"]>[0];
    return { save: disk.save, prepare: () => disk.prepare(work, new AbortController().signal) };
  };
  return { roots, open, fetchedAt, removedAt, read: () => readDisk(platform.db, agentId) };
}

test("an agent with more files than are copied stays with its server and says so, until it has fewer", async () => {
  const { open, read, fetchedAt } = await newDisk();
  const small = open({ maxEntries: 5 });
  expect(await small.prepare()).toEqual([]);
  for (let call = 0; call < 2; call += 1) await small.save();
  expect(await read()).toEqual({ dataId: "data-a", nodeName: "node-a", saveId: null, isBound: true });
  const large = open({ maxEntries: 1_000 });
  expect(await large.prepare()).toEqual([expect.stringContaining("it stays with its server")]);
  await large.save();
  expect(await read()).toMatchObject({ saveId: expect.any(String), isBound: false });
  expect(await open({ maxEntries: 1_000 }).prepare()).toEqual([]);
  expect(fetchedAt).toEqual([]);
});

test("an agent that has again the files of its last save does not stay with its server", async () => {
  const { roots, open, read } = await newDisk();
  const first = open({ maxEntries: 1_000 });
  await first.prepare();
  await first.save();
  // So that the times of the files are no longer the present one.
  await pause(60);
  await first.save();
  const added = join(roots.workspace, "src/added");
  writeFileSync(added, "added");
  const entries = Object.values(roots).flatMap((root) =>
    readdirSync(root, { recursive: true, encoding: "utf8" }),
  ).length;
  // One of them is not saved in any case, and another one was added.
  await open({ maxEntries: entries - 2 }).save();
  expect(await read()).toMatchObject({ saveId: null, isBound: true });
  rmSync(added);
  await open({ maxEntries: entries - 2 }).save();
  expect(await read()).toMatchObject({ isBound: false });
  expect(await open({ maxEntries: 1_000 }).prepare()).toEqual([]);
});

test("an agent from before there was an object store stays with its server until it is saved, without a warning", async () => {
  const { open, read } = await newDisk();
  await open({ maxEntries: 1_000, isShared: false }).prepare();
  expect(await read()).toMatchObject({ saveId: null, isBound: true });
  const disk = open({ maxEntries: 1_000 });
  expect(await disk.prepare()).toEqual([]);
  expect(await read()).toMatchObject({ saveId: null, isBound: true });
  await disk.save();
  expect(await read()).toMatchObject({ saveId: expect.any(String), isBound: false });
});

test("the files of an agent on a worker are saved however many they are, and another server fetches them", async () => {
  const { open, read, fetchedAt } = await newDisk();
  const first = open({ maxEntries: 5, isOnWorker: true });
  expect(await first.prepare()).toEqual([]);
  await first.save();
  expect(await read()).toMatchObject({ dataId: "data-a", saveId: expect.any(String), isBound: false });
  expect(await open({ maxEntries: 5, isOnWorker: true, at: "b" }).prepare()).toEqual([]);
  expect(fetchedAt).toEqual(["b"]);
});

test("a server that goes on without the files of a lost one removes what it has from before", async () => {
  const { open, removedAt } = await newDisk();
  await open({ maxEntries: 1_000, at: "b" }).save();
  await open({ maxEntries: 5 }).save();
  await expect(open({ maxEntries: 5, isResumed: true, at: "b" }).prepare()).rejects.toThrow("Another prompt goes on");
  expect(removedAt).toEqual(["b"]);
  expect(existsSync(join(directory, "data-b/disks"))).toBe(true);
  expect(readdirSync(join(directory, "data-b/disks"))).toEqual([]);
  await open({ maxEntries: 5 }).save();
  const next = open({ maxEntries: 5, at: "b" });
  expect(await next.prepare()).toEqual([expect.stringContaining("The repositories begin with what was pushed")]);
  expect(removedAt).toEqual(["b", "b"]);
  expect(await next.prepare()).toEqual([]);
  expect(removedAt).toEqual(["b", "b"]);
});

test("a run on a worker whose files only another server has says so when it begins, and ends when it goes on", async () => {
  const { open, read } = await newDisk();
  await open({ maxEntries: 5 }).save();
  expect(await read()).toMatchObject({ dataId: "data-a", isBound: true });
  const resumed = open({ maxEntries: 5, isOnWorker: true, isResumed: true, at: "b" });
  await expect(resumed.prepare()).rejects.toThrow("The files of this agent are on node-a, which alone has them.");
  expect(await read()).toBeUndefined();
  await open({ maxEntries: 5 }).save();
  expect(await open({ maxEntries: 5, isOnWorker: true, at: "b" }).prepare()).toEqual([
    expect.stringContaining("The files of this agent were on node-a, which alone has them."),
  ]);
  expect(await read()).toMatchObject({ dataId: "data-b", isBound: false });
});

/** As a later look finds a file that was just written: its time is no longer the present one. */
function settle(roots: DiskRoots, entry: DiskEntry): DiskEntry {
  if (entry.kind !== "file") return entry;
  const [root = "", ...rest] = entry.path.split("/");
  const path = Buffer.from(`${roots[root as keyof DiskRoots]}/${rest.join("/")}`, "latin1");
  const { ino, size, mtimeMs, ctimeMs } = lstatSync(path);
  return { ...entry, seen: `${ino}.${size}.${mtimeMs}.${ctimeMs}` };
}

test("a save that was cut, changed or taken from another agent is not restored", async () => {
  const roots = rootsIn("first");
  fillRoots(roots);
  await save(roots, { pack: "pack-1" });
  const path = join(directory, "objects/disks/bc-1/pack-1");
  const content = readFileSync(path);
  const { key: other } = await fixture.platform.vault.newDataKey();
  const foreign: Buffer[] = [];
  for await (const block of sealBlocks(
    (async function* () {
      yield Buffer.from("foreign");
    })(),
    { key: other, about: "disk:bc-1:pack-1" },
  ))
    foreign.push(block);
  const firstBlock = content.subarray(0, 4 + content.readUInt32BE(0));
  for (const [index, bad] of [content.subarray(0, -5), firstBlock, Buffer.concat(foreign)].entries()) {
    writeFileSync(path, bad);
    mkdirSync(join(directory, `copy-${index}`));
    await expect(
      restoreDisk(saved, await saved.readEntries("list-pack-1"), rootsIn(`copy-${index}`)),
    ).rejects.toThrow();
  }
});

test("a run whose agent has its files in another data directory waits for it, says so, and is claimed there", async () => {
  const { platform } = fixture;
  const { agentId, runId } = await fixture.newAgent();
  const here = openLeases(platform.db, { nodeId: "here", leaseMs: 60_000, dataId: "data-here" });
  const there = openLeases(platform.db, { nodeId: "there", leaseMs: 60_000, dataId: "data-there" });
  const first = await there.claim();
  expect(first?.runId).toBe(runId);
  const fence = { runId, epoch: first?.epoch ?? 0 };
  const disk = { dataId: "data-there", nodeName: "node-b", saveId: null, isBound: true };
  await writeDisk(platform.db, { agentId, fence }, disk);
  await there.release(fence);
  expect(await here.claim()).toBeNull();
  const run = await platform.db.selectFrom("runs").selectAll().where("id", "=", runId).executeTakeFirstOrThrow();
  const reason = "The files of this agent are on node-b, which takes the run.";
  expect(await readDiskWait(platform, run)).toEqual({ position: 1, reason });
  // Its driver crashed.
  const crashed = { ...run, lease_owner: "there", lease_until: new Date(Date.now() - 1_000) };
  expect(await readDiskWait(platform, crashed)).toEqual({ position: 1, reason });
  // The fence of the former claim is refused.
  await expect(writeDisk(platform.db, { agentId, fence }, disk)).rejects.toThrow("another driver");
  expect((await there.claim())?.runId).toBe(runId);
});

test("a run waits for the server that has its files from when that server was last there, however old the run is", async () => {
  const { platform } = fixture;
  const { agentId, runId } = await fixture.newAgent();
  const here = openLeases(platform.db, { nodeId: "here", leaseMs: 60_000, dataId: "data-here", workerWaitSeconds: 60 });
  const there = openLeases(platform.db, { nodeId: "there", leaseMs: 60_000, dataId: "data-there" });
  const fence = { runId, epoch: (await there.claim())?.epoch ?? 0 };
  const disk = { dataId: "data-there", nodeName: "node-b", saveId: null, isBound: true };
  await writeDisk(platform.db, { agentId, fence }, disk);
  await there.release(fence);
  const longAgo = new Date(Date.now() - 2 * 86_400_000);
  await platform.db.updateTable("runs").set({ created_at: longAgo }).where("id", "=", runId).execute();
  await reportDataDirectory(platform.db, "data-there", "there");
  expect(await here.claim()).toBeNull();
  await platform.db.updateTable("data_directories").set({ seen_at: longAgo }).execute();
  expect((await here.claim())?.runId).toBe(runId);
});

test("a run that the server with its files has not taken yet shows no queue there", async () => {
  const { platform } = fixture;
  const { agentId, runId } = await fixture.newAgent();
  const own = readDataId(platform.settings.dataDirectory);
  const leases = openLeases(platform.db, { nodeId: "own", leaseMs: 60_000, dataId: own });
  const fence = { runId, epoch: (await leases.claim())?.epoch ?? 0 };
  const disk = { dataId: own, nodeName: "node-a", saveId: null, isBound: true };
  await writeDisk(platform.db, { agentId, fence }, disk);
  await leases.release(fence);
  const run = await platform.db.selectFrom("runs").selectAll().where("id", "=", runId).executeTakeFirstOrThrow();
  expect(await readDiskWait(platform, run)).toBeNull();
});

test("a data directory keeps its id", () => {
  const id = readDataId(join(directory, "data"));
  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  expect(readDataId(join(directory, "data"))).toBe(id);
  expect(readDataId(join(directory, "other"))).not.toBe(id);
});
