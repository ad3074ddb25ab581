// The files of an agent between a server and a worker, with what ends in the middle of it. Only the connection is played.
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { temporaryDirectory } from "@agentcli/testkit";
import { startFakeS3 } from "@agentcli/testkit/s3";
import { expect, onTestFinished, test } from "vitest";
import { agentFiles, openAgentFiles } from "../../../worker/src/files.ts";
import { type ArtifactUploads, openUploads } from "../../../worker/src/uploads.ts";
import type { Caller } from "../../src/fleet/calls.ts";
import { exchangeFiles } from "../../src/fleet/file-exchange.ts";
import type { ObjectStore } from "../../src/foundation/index.ts";
import { readAll } from "../../src/foundation/objects/object-store.ts";
import { openS3Store } from "../../src/foundation/objects/s3.ts";

const large = 1 << 26;

async function openBothSides() {
  const { path: base, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const directory = join(base, "server");
  const there = agentFiles(join(base, "worker"), "agent");
  for (const side of [directory, there]) mkdirSync(join(side, "shop"), { recursive: true });
  writeFileSync(join(directory, "shop/README.md"), "# Shop\n");
  const connection = { cutAfter: Number.POSITIVE_INFINITY, received: 0 };
  const uploads: ArtifactUploads = openUploads({
    dataDirectory: join(base, "worker"),
    url: "http://127.0.0.1",
    variables: {},
    log() {},
  });
  const call = play(openAgentFiles(join(base, "worker")), { uploads, connection });
  const run = (runId: string, { isResumed = false, store = null, diskBytes = null }: RunOptions = {}) =>
    exchangeFiles(call, {
      store,
      ...{ runId, isResumed, name: "agent", directory, root: "shop", writable: [], limits: { diskBytes } },
      stateFile: join(base, "state.json"),
      findClonable: async () => [],
    });
  const artifacts = { here: join(directory, ".artifacts"), there: join(there, ".artifacts") };
  return { run, connection, uploads, artifacts, here: join(directory, "shop"), there: join(there, "shop"), base };
}

interface RunOptions {
  isResumed?: boolean;
  store?: ObjectStore | null;
  diskBytes?: number | null;
}

interface PlayedWorker {
  uploads: ArtifactUploads;
  connection: { cutAfter: number; received: number };
}

/** Requests as the worker answers them. */
function play(files: ReturnType<typeof openAgentFiles>, { uploads, connection }: PlayedWorker): Caller {
  const send = async (name: string, to: PassThrough, body: object) =>
    name === "sync.collect"
      ? files.send("agent", to, (body as { without?: string[] }).without)
      : files.sendAll("agent", to);
  const plain: Record<string, (body: never) => Promise<unknown>> = {
    "sync.state": () => files.state("agent"),
    "sync.commit": ({ id }: { id: string }) => files.commit("agent", id),
    "artifacts.list": async () => ({ files: await uploads.list("agent") }),
    "artifacts.upload": async (body) => ({ uploaded: await uploads.upload(body) }),
  };
  const cut = (stream: PassThrough): PassThrough => {
    const bytes = (stream.read() ?? Buffer.alloc(0)) as Buffer;
    connection.received = bytes.length;
    const received = new PassThrough({ highWaterMark: large });
    received.write(bytes.subarray(0, connection.cutAfter));
    if (bytes.length > connection.cutAfter) setImmediate(() => received.destroy());
    else received.end();
    return received;
  };
  return {
    guarded: (work) => work(),
    plain: async (name, body) => plain[name]?.(body as never),
    async streaming(name, body, write) {
      const stream = new PassThrough({ highWaterMark: large });
      if (name !== "sync.apply") {
        await send(name, stream, body);
        return cut(stream);
      }
      const applied = files.apply(body as Parameters<typeof files.apply>[0], stream);
      await write?.(stream);
      await applied;
      return stream;
    },
  };
}

const contents = (directory: string) =>
  Object.fromEntries(readdirSync(directory).map((name) => [name, readFileSync(join(directory, name), "utf8")]));

test("what a run left on the worker without bringing it back comes with the next one", async () => {
  const { run, here, there } = await openBothSides();
  await run("run-1").prepare();
  writeFileSync(join(there, "work.txt"), "of the first run");
  const next = run("run-2");
  await next.prepare();
  writeFileSync(join(there, "more.txt"), "of the second run");
  await next.copyFilesBack();
  expect(contents(here)).toEqual(contents(there));
  expect(contents(here)).toMatchObject({ "work.txt": "of the first run", "more.txt": "of the second run" });
});

test("what has changed on the server meanwhile goes to the worker, and what the worker has comes back", async () => {
  const { run, here, there } = await openBothSides();
  await run("run-1").prepare();
  writeFileSync(join(there, "work.txt"), "of the first run");
  writeFileSync(join(here, "input.txt"), "of a person");
  const next = run("run-2");
  await next.prepare();
  expect(contents(there)).toMatchObject({ "input.txt": "of a person", "work.txt": "of the first run" });
  await next.copyFilesBack();
  expect(contents(here)).toEqual(contents(there));
});

test("a connection that ends while files come back costs nothing: the run that goes on fetches all of them", async () => {
  const { run, connection, here, there } = await openBothSides();
  await run("run-1").prepare();
  writeFileSync(join(there, "a.bin"), "a".repeat(200_000));
  writeFileSync(join(there, "b.txt"), "b");
  connection.cutAfter = 100_000;
  await expect(run("run-1").copyFilesBack()).rejects.toThrow("not sent to their end");
  connection.cutAfter = Number.POSITIVE_INFINITY;
  const again = run("run-1");
  await again.prepare();
  await again.copyFilesBack();
  expect(contents(there)["a.bin"]).toHaveLength(200_000);
  expect(contents(here)).toEqual(contents(there));
});

test("a server of this version goes on with a run that one of an earlier version began", async () => {
  const { run, base, here, there } = await openBothSides();
  await run("run-1").prepare();
  for (const file of [join(base, "state.json"), join(there, "../../sync.json")])
    writeFileSync(file, readFileSync(file, "utf8").replace(/"id":"[^"]+"/, '"id":"5f8cf3a1"'));
  writeFileSync(join(there, "work.txt"), "of the run");
  const again = run("run-1");
  await again.prepare();
  await again.copyFilesBack();
  expect(contents(here)).toMatchObject({ "work.txt": "of the run" });
});

test("a run that a server of an earlier version began keeps its work on the worker, also without that server's files", async () => {
  const { run, base, here, there } = await openBothSides();
  await run("run-1").prepare();
  const synced = join(there, "../../sync.json");
  writeFileSync(synced, readFileSync(synced, "utf8").replace(/"id":"[^"]+"/, '"id":"5f8cf3a1"'));
  rmSync(join(base, "state.json"));
  writeFileSync(join(there, "work.txt"), "of the run");
  const again = run("run-1", { isResumed: true });
  await again.prepare();
  expect(contents(there)).toMatchObject({ "work.txt": "of the run" });
  await again.copyFilesBack();
  expect(contents(here)).toMatchObject({ "work.txt": "of the run" });
});

const megabytes = (count: number): string => "artifact ".repeat((count * 1024 * 1024) / 9 + 1);

async function openBucket() {
  const bucket = await startFakeS3();
  onTestFinished(bucket.close);
  const credentials = { accessKeyId: bucket.accessKeyId, secretAccessKey: bucket.secretAccessKey };
  return {
    bucket,
    store: openS3Store({ ...bucket, prefix: "", credentials: () => credentials, pausesMs: [], retries: 0 }),
  };
}

test("a large artifact goes to the bucket by a signed address, sealed, and not over the connection", async () => {
  const { run, connection, base, there } = await openBothSides();
  const { bucket, store } = await openBucket();
  const [made, here] = [join(there, "../.artifacts"), join(base, "server/.artifacts")];
  const put: Buffer[] = [];
  const kept = bucket.objects.set.bind(bucket.objects);
  bucket.objects.set = (key, value) => {
    put.push(value);
    return kept(key, value);
  };
  const current = run("run-1", { store });
  await current.prepare();
  mkdirSync(join(made, "sub"), { recursive: true });
  writeFileSync(join(made, "sub/large.txt"), megabytes(3));
  writeFileSync(join(made, "small.txt"), "small");
  symlinkSync("/etc/passwd", join(made, "link.txt"));
  await current.copyFilesBack();
  expect(readFileSync(join(here, "sub/large.txt"), "utf8") === megabytes(3)).toBe(true);
  expect(readFileSync(join(here, "small.txt"), "utf8")).toBe("small");
  expect(connection.received).toBeLessThan(10_000);
  expect(put.map((bytes) => [bytes.length, bytes.includes("artifact")])).toEqual([[megabytes(3).length + 28, false]]);
  expect([...bucket.objects.keys()]).toEqual([]);
});

test.each([
  { what: "refuses it", fail: 10, change: (url: string) => url },
  { what: "cannot be reached", fail: 0, change: (url: string) => url.replace(/:\d+/, ":9") },
])("where the bucket $what, a large artifact comes through the platform", async ({ fail, change }) => {
  const { run, connection, base, there } = await openBothSides();
  const { bucket, store } = await openBucket();
  const sign: ObjectStore["sign"] = async (key, access) => change((await store.sign(key, access)) ?? "");
  const current = run("run-1", { store: { ...store, sign } });
  await current.prepare();
  mkdirSync(join(there, "../.artifacts"), { recursive: true });
  writeFileSync(join(there, "../.artifacts/large.txt"), megabytes(2));
  bucket.failNext(fail);
  await current.copyFilesBack();
  expect(readFileSync(join(base, "server/.artifacts/large.txt"), "utf8") === megabytes(2)).toBe(true);
  expect(connection.received).toBeGreaterThan(megabytes(2).length);
});

test("an object that is not what the worker has sealed is not taken: the artifact comes with the files", async () => {
  const { run, connection, base, there } = await openBothSides();
  const { store } = await openBucket();
  const get: ObjectStore["get"] = async (key) => {
    const found = await store.get(key);
    if (found === null) return null;
    const bytes = await readAll(found);
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 20) ^ 1, bytes.length - 20);
    return { sizeBytes: bytes.length, stream: Readable.from([bytes]) };
  };
  const current = run("run-1", { store: { ...store, get } });
  await current.prepare();
  mkdirSync(join(there, "../.artifacts"), { recursive: true });
  writeFileSync(join(there, "../.artifacts/large.txt"), megabytes(2));
  await current.copyFilesBack();
  expect(readFileSync(join(base, "server/.artifacts/large.txt"), "utf8") === megabytes(2)).toBe(true);
  expect(connection.received).toBeGreaterThan(megabytes(2).length);
});

test("a worker that announces a checkout as an artifact does not remove the checkout", async () => {
  const { run, uploads, artifacts, here } = await openBothSides();
  const { store } = await openBucket();
  const { list, upload } = uploads;
  const announced = (path: string) => (path === ".artifacts/large.txt" ? "shop" : path);
  uploads.list = async (agent) => (await list(agent)).map((file) => ({ ...file, path: announced(file.path) }));
  uploads.upload = async ({ agent, files }) =>
    (await upload({ agent, files: files.map((file) => ({ ...file, path: ".artifacts/large.txt" })) })).map(announced);
  const current = run("run-1", { store });
  await current.prepare();
  mkdirSync(artifacts.there, { recursive: true });
  writeFileSync(join(artifacts.there, "large.txt"), megabytes(2));
  await current.copyFilesBack();
  expect(contents(here)).toEqual({ "README.md": "# Shop\n" });
});

test("artifacts that are larger than the disk together are refused, also where each of them is smaller", async () => {
  const { run, artifacts } = await openBothSides();
  const { store } = await openBucket();
  const current = run("run-1", { store, diskBytes: megabytes(3).length });
  await current.prepare();
  mkdirSync(artifacts.there, { recursive: true });
  for (const name of ["a", "b", "c"]) writeFileSync(join(artifacts.there, name), megabytes(2));
  await expect(current.copyFilesBack()).rejects.toThrow("The files have more than");
  expect(readdirSync(artifacts.here)).toEqual(["a"]);
});

test("a follow-up uploads the artifacts that have changed since, each with a request of its own", async () => {
  const { run, uploads, artifacts } = await openBothSides();
  const { store } = await openBucket();
  const { upload } = uploads;
  const requests: string[][] = [];
  uploads.upload = (request) => {
    requests.push(request.files.map(({ path }) => path));
    return upload(request);
  };
  const first = run("run-1", { store });
  await first.prepare();
  mkdirSync(artifacts.there, { recursive: true });
  for (const name of ["a", "b"]) writeFileSync(join(artifacts.there, name), megabytes(1));
  await first.copyFilesBack();
  const next = run("run-2", { store });
  await next.prepare();
  writeFileSync(join(artifacts.there, "b"), megabytes(2));
  await next.copyFilesBack();
  expect(requests).toEqual([[".artifacts/a"], [".artifacts/b"], [".artifacts/b"]]);
  expect(readFileSync(join(artifacts.here, "b"), "utf8") === megabytes(2)).toBe(true);
});

const failure = () => Promise.reject(new Error("it did not answer"));

test.each<{ what: string; worker?: Partial<ArtifactUploads>; store?: Partial<ObjectStore> }>([
  { what: "the list of the worker", worker: { list: failure } },
  { what: "the upload of the worker", worker: { upload: failure } },
  { what: "the signature of the store", store: { sign: failure } },
  { what: "the download from the store", store: { get: failure } },
])("where $what fails, a large artifact comes through the platform", async ({ worker, store: failing }) => {
  const { run, uploads, artifacts } = await openBothSides();
  const { store } = await openBucket();
  Object.assign(uploads, worker);
  const current = run("run-1", { store: { ...store, ...failing } });
  await current.prepare();
  mkdirSync(artifacts.there, { recursive: true });
  writeFileSync(join(artifacts.there, "large.txt"), megabytes(2));
  await current.copyFilesBack();
  expect(readFileSync(join(artifacts.here, "large.txt"), "utf8") === megabytes(2)).toBe(true);
});
