// What the platform costs over its floor: the reply of the model, raw writes, an empty database.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { buildRows } from "./builds.mjs";
import { capacityRows } from "./capacity.mjs";
import { completeRunRows } from "./complete-runs.mjs";
import { machineRows } from "./machines.mjs";
import { median, minimum } from "./measure.mjs";
import { command, message, startServer } from "./model-server.mjs";
import { automationRows } from "./platform-automations.mjs";
import { retentionRows } from "./platform-retention.mjs";
import { cpuOf, memoryMbOf, startPlatform } from "./platform-server.mjs";
import { takeover } from "./platform-takeover.mjs";

/** Rows of the table: what, who, value, unit, ratio, limit. */
export async function platformRows({ root, scratch, rounds }) {
  const parts = await load(root, scratch);
  return [
    ...(await firstRequests({ root, scratch, rounds })),
    ...(await completeRunRows({ root, scratch })),
    ...(await machineRows({ root, scratch, rounds, parts })),
    ...(await buildRows({ root, scratch, parts })),
    ...(await manyRuns({ root, scratch })),
    ...(await idleAgents({ root, scratch })),
    ...(await fanOut({ root, scratch, parts })),
    ...(await takeover({ root, scratch })),
    ...(await manyFrames({ root, scratch, rounds, parts })),
    ...(await retentionRows({ root, scratch, rounds, parts })),
    ...(await automationRows({ root, scratch, parts })),
  ];
}

/** Of `--only automations`. */
export const idleAutomationRows = async ({ root, scratch }) =>
  automationRows({ root, scratch, parts: await load(root, scratch) });

/** Of `--only builds`. */
export const recordedBuildRows = async ({ root, scratch }) =>
  buildRows({ root, scratch, parts: await load(root, scratch) });

/** Of `--only capacity`. */
export const simulatedCapacityRows = async ({ root, scratch }) =>
  capacityRows({ root, scratch, parts: await load(root, scratch) });

/** Node 20 cannot load TypeScript. */
async function load(root, scratch) {
  const bundle = await rolldown({
    input: join(root, "bench/platform-parts.ts"),
    platform: "node",
    external: ["pg-native", /^@lydell/],
    logLevel: "silent",
  });
  const file = join(scratch, "platform-parts.mjs");
  await bundle.write({ file, format: "esm", codeSplitting: false });
  await bundle.close();
  return import(pathToFileURL(file).href);
}

/** From the request that creates an agent to its first model request. */
async function firstRequests({ root, scratch, rounds }) {
  const model = await startServer(() => message("Hello."));
  const platform = await startPlatform({ root, scratch, modelUrl: model.url });
  const bodies = {
    "without a repository": { prompt: { text: "hello" } },
    "with a repository": { prompt: { text: "hello" }, repos: [{ url: platform.repository }] },
  };
  const rows = [];
  for (const [name, body] of Object.entries(bodies)) {
    const times = [];
    for (let round = 0; round < rounds + 2; round += 1) {
      model.reset();
      const startedAt = performance.now();
      const ids = await platform.create(body);
      await platform.send("GET", ids.stream);
      if (round >= 2) times.push(model.arrivals[0] - startedAt);
    }
    rows.push([`create to first model request, ${name}`, "platform serve", median(times), "ms", null, "< 150 ms"]);
  }
  await platform.stop();
  model.close();
  return rows;
}

/** Each runs a command in its own sandbox and ends. */
async function manyRuns({ root, scratch }) {
  const count = 50;
  // A request with the output of a command is the second of its run.
  const model = await startCommandModel();
  const platform = await startPlatform({ root, scratch, modelUrl: model.url });
  const work = async () => {
    const ids = await platform.create({ prompt: { text: "run it" } });
    const { text } = await platform.send("GET", ids.stream);
    if (!text.includes('"status":"FINISHED"')) throw new Error(`a run did not finish: ${text.slice(-500)}`);
  };
  for (let round = 0; round < 3; round += 1) await work();
  const single = await timed(work);
  const all = await timed(() => Promise.all(Array.from({ length: count }, work)));
  await platform.stop();
  model.close();
  const what = `${count} runs at once, each with a command in its sandbox`;
  return [
    [what, "platform serve", all, "ms", all / (count * single), "one after another"],
    [`${what}, each`, "platform serve", all / count, "ms", null, ""],
  ];
}

async function startCommandModel() {
  const { createServer } = await import("node:http");
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(body.includes("function_call_output") ? message("Done.") : command("true", 1));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Memory that a server keeps per idle agent. */
async function idleAgents({ root, scratch }) {
  const model = await startServer(() => message("Hello."));
  const platform = await startPlatform({ root, scratch, modelUrl: model.url });
  const create = async (count) => {
    for (let done = 0; done < count; done += 10)
      await Promise.all(
        Array.from({ length: 10 }, async () =>
          platform.send("GET", (await platform.create({ prompt: { text: "hello" } })).stream),
        ),
      );
  };
  await create(300);
  const before = await platform.heapKb();
  const count = 500;
  await create(count);
  const added = Math.max(0, (await platform.heapKb()) - before);
  const resident = memoryMbOf(platform.pid);
  await platform.stop();
  model.close();
  return [
    ["resident memory with 800 idle agents", "platform serve", resident, "MB", null, ""],
    ["heap per idle agent", "platform serve", added / count, "KB", null, "< 5 KB"],
  ];
}

const readerCount = 1_000;
const frameCount = 1_000;
const framesAtOnce = 10;
const text = "A frame of ordinary length, as models send them in one go. ".repeat(2);

/** The same bytes to the same number of readers: from the database through the platform, and from a program that only writes. */
async function fanOut({ root, scratch, parts }) {
  const model = await startServer(() => message("Hello."));
  const platform = await startPlatform({ root, scratch, modelUrl: model.url, args: ["--role", "api"] });
  const db = parts.openRunning(platform.data);
  const raw = await startRaw(root);
  const times = { ours: [], raw: [] };
  const cpu = { ours: [], raw: [] };
  for (let round = 0; round < 3; round += 1) {
    const ids = await platform.create({ prompt: { text: "talk" } });
    const write = await parts.openFrameWriter(db, { kekFile: join(platform.data, "kek"), ...ids });
    const headers = { authorization: `Bearer ${platform.key}` };
    const readers = await openReaders(`${platform.url}${ids.stream}`, headers);
    const cpuBefore = cpuOf(platform.pid);
    let writingMs = 0;
    times.ours.push(
      await timed(async () => {
        writingMs = await timed(async () => {
          for (let done = 0; done < frameCount; done += framesAtOnce) await write(Array(framesAtOnce).fill(text));
        });
        await readers.receivedFrames(frameCount);
      }),
    );
    cpu.ours.push(cpuOf(platform.pid) - cpuBefore);
    const bytesPerReader = (await readers.close()) / readerCount;
    // At the pace at which frames are stored: otherwise they arrive in one chunk, which is not comparable.
    await raw.round({ bytesPerReader, pauseMs: (writingMs * framesAtOnce) / frameCount }, times.raw, cpu.raw);
  }
  raw.stop();
  await db.destroy();
  await platform.stop();
  model.close();
  const what = `${readerCount} readers of ${frameCount} frames`;
  return [
    [`${what}, wall`, "raw writes", minimum(times.raw), "ms", 1, ""],
    [`${what}, wall`, "platform serve", minimum(times.ours), "ms", minimum(times.ours) / minimum(times.raw), "≤ 1.5x"],
    [`${what}, CPU of the server`, "raw writes", minimum(cpu.raw), "ms", 1, ""],
    [
      `${what}, CPU of the server`,
      "platform serve",
      minimum(cpu.ours),
      "ms",
      minimum(cpu.ours) / minimum(cpu.raw),
      "≤ 1.5x",
    ],
  ];
}

async function startRaw(root) {
  const child = spawn(process.execPath, [join(root, "bench/raw-writes.mjs")], { stdio: ["pipe", "pipe", "inherit"] });
  const [port] = await once(createInterface(child.stdout), "line");
  return {
    async round({ bytesPerReader, pauseMs }, times, cpu) {
      const readers = await openReaders(`http://127.0.0.1:${port}/`, {});
      const batchBytes = Math.floor(bytesPerReader / frameCount) * framesAtOnce;
      const cpuBefore = cpuOf(child.pid);
      times.push(
        await timed(async () => {
          for (let done = 0; done < frameCount; done += framesAtOnce) {
            child.stdin.write(`${batchBytes}\n`);
            await new Promise((resolve) => setTimeout(resolve, pauseMs));
          }
          await readers.receivedBytes((batchBytes * frameCount) / framesAtOnce);
        }),
      );
      cpu.push(cpuOf(child.pid) - cpuBefore);
      await readers.close();
    },
    stop: () => child.stdin.end(),
  };
}

/** Connections that read everything and count the bytes. */
async function openReaders(url, headers) {
  const readers = await Promise.all(Array.from({ length: readerCount }, () => openReader(url, headers)));
  const until = async (isDone) => {
    while (!readers.every(isDone)) await new Promise((resolve) => setTimeout(resolve, 2));
  };
  return {
    receivedFrames: (count) => until((reader) => reader.bytes >= count * text.length),
    receivedBytes: (count) => until((reader) => reader.bytes >= count),
    async close() {
      await new Promise((resolve) => setTimeout(resolve, 50));
      const total = readers.reduce((sum, reader) => sum + reader.bytes, 0);
      for (const reader of readers) reader.close();
      return total;
    },
  };
}

function openReader(url, headers) {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers, agent: false }, (response) => {
      const reader = { bytes: 0, close: () => sent.destroy() };
      let isOpen = false;
      response.on("data", (chunk) => {
        // The first chunk shows that the connection is open.
        if (isOpen) reader.bytes += chunk.length;
        else resolve(reader);
        isOpen = true;
      });
      response.on("error", () => {});
    });
    sent.on("error", (error) => (error.code === "ECONNRESET" ? undefined : reject(error)));
    sent.end();
  });
}

/** The same requests with a handful of stored frames, and with a million. */
async function manyFrames({ root, scratch, rounds, parts }) {
  const model = await startServer(() => message(text.repeat(40), 200));
  const platform = await startPlatform({ root, scratch, modelUrl: model.url });
  const ids = await platform.create({ prompt: { text: "hello" } });
  await platform.send("GET", ids.stream);
  for (let count = 0; count < 20; count += 1)
    await platform.send("GET", (await platform.create({ prompt: { text: "hello" } })).stream);
  const measure = () => latencies(platform, ids, rounds);
  await measure();
  const few = await measure();
  const db = parts.openRunning(platform.data);
  await parts.addStoredFrames(db, { count: 1_000_000, except: ids.runId });
  const { frames } = await db
    .selectFrom("frames")
    .select(({ fn }) => fn.countAll().as("frames"))
    .executeTakeFirstOrThrow();
  await db.destroy();
  await measure();
  const many = await measure();
  await platform.stop();
  model.close();
  return Object.keys(few).map((name) => [
    `${name}, ${Number(frames).toLocaleString("en")} frames stored`,
    "platform serve",
    many[name],
    "ms",
    many[name] / few[name],
    "≤ 1.5x",
  ]);
}

async function latencies(platform, { agentId, stream }, rounds) {
  const requests = {
    "page of agents": ["/v1/agents?limit=20"],
    "page of runs": [`/v1/agents/${agentId}/runs`],
    "whole stream of a run": [stream],
    "stream with an unknown id": [stream, { "last-event-id": "1-1" }],
  };
  const times = {};
  for (const [name, [path, headers]] of Object.entries(requests)) {
    const each = [];
    for (let round = 0; round < rounds * 4; round += 1)
      each.push(await timed(() => platform.send("GET", path, undefined, headers)));
    times[name] = minimum(each);
  }
  return times;
}

async function timed(work) {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
