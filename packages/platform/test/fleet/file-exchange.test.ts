// The files of an agent between a server and a worker, with what ends in the middle of it. Only the connection is played.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { temporaryDirectory } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { agentFiles, openAgentFiles } from "../../../worker/src/files.ts";
import type { Caller } from "../../src/fleet/calls.ts";
import { exchangeFiles } from "../../src/fleet/file-exchange.ts";

const large = 1 << 26;

async function openBothSides() {
  const { path: base, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const directory = join(base, "server");
  const there = agentFiles(join(base, "worker"), "agent");
  for (const side of [directory, there]) mkdirSync(join(side, "shop"), { recursive: true });
  writeFileSync(join(directory, "shop/README.md"), "# Shop\n");
  const connection = { cutAfter: Number.POSITIVE_INFINITY };
  const call = play(openAgentFiles(join(base, "worker")), connection);
  const run = (runId: string, { isResumed } = { isResumed: false }) =>
    exchangeFiles(call, {
      ...{ runId, isResumed, name: "agent", directory, root: "shop", writable: [], limits: { diskBytes: null } },
      stateFile: join(base, "state.json"),
    });
  return { run, connection, here: join(directory, "shop"), there: join(there, "shop"), base };
}

/** Requests as the worker answers them. */
function play(files: ReturnType<typeof openAgentFiles>, connection: { cutAfter: number }): Caller {
  const send = async (name: string, to: PassThrough) =>
    name === "sync.collect" ? files.send("agent", to) : files.sendAll("agent", to);
  const cut = (stream: PassThrough): PassThrough => {
    const bytes = (stream.read() ?? Buffer.alloc(0)) as Buffer;
    const received = new PassThrough({ highWaterMark: large });
    received.write(bytes.subarray(0, connection.cutAfter));
    if (bytes.length > connection.cutAfter) setImmediate(() => received.destroy());
    else received.end();
    return received;
  };
  return {
    guarded: (work) => work(),
    plain: async (name, body) =>
      name === "sync.state" ? files.state("agent") : files.commit("agent", (body as { id: string }).id),
    async streaming(name, body, write) {
      const stream = new PassThrough({ highWaterMark: large });
      if (name !== "sync.apply") {
        await send(name, stream);
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
