// What workers cost: one connection on the server, one process on the machine, its size and its start; and whether two hundred
// of them share a hundred runs without ever giving one worker to two agents.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { median, minimum, run } from "./measure.mjs";
import { command, message, startServer } from "./model-server.mjs";
import { cpuOf, cpuWithChildrenOf, memoryMbOf, startPlatform } from "./platform-server.mjs";
import { connectPlayedWorkers } from "./played-workers.mjs";

const workers = 200;
const runs = 100;

export async function workerRows({ root, scratch, rounds }) {
  const model = await startServer(() => message("Hello."));
  const platform = await startPlatform({ root, scratch, modelUrl: model.url });
  const account = platform.command("keys", "create", "--name", "pool", "--service-account");
  const start = (name) => startWorker({ root, scratch, url: platform.url, key: account, name });
  const rows = [
    ...(await processRows({ root, platform, start, rounds })),
    ...(await connectionRows(platform, { key: account, start })),
  ];
  await platform.stop();
  model.close();
  return [...rows, ...(await assignmentRows({ root, scratch }))];
}

/** The built program as a user starts it, in the pool `bench`. */
function startWorker({ root, scratch, url, key, name }) {
  const directory = join(scratch, `worker-${name}`);
  mkdirSync(directory, { recursive: true });
  const program = join(root, "packages/worker/bin/agent.cjs");
  const args = [program, "worker", "start", "--pool", "bench", "--name", name, "--data-dir", directory];
  const child = spawn(process.execPath, args, {
    cwd: directory,
    env: { PATH: process.env.PATH, HOME: directory, PLATFORM_BACKEND_URL: url, PLATFORM_API_KEY: key },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const lines = createInterface(child.stderr);
  const registered = new Promise((resolve) => {
    lines.on("line", (line) => line.includes("Waiting for agents.") && resolve(performance.now()));
  });
  const stop = async () => {
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    await exited;
  };
  return { pid: child.pid, registered, stop };
}

/** Size on disk, start to registered against an empty Node program plus one round trip, and memory of the process. */
async function processRows({ root, platform, start, rounds }) {
  const [starts, floors, trips, memories] = [[], [], [], []];
  for (let round = 0; round < rounds + 1; round += 1) {
    const floor = await run({ program: process.execPath, args: ["-e", "0"], env: process.env, cwd: root });
    const sentAt = performance.now();
    await platform.send("GET", "/healthz");
    const trip = performance.now() - sentAt;
    const startedAt = performance.now();
    const worker = start(`start-${round}`);
    const startMs = (await worker.registered) - startedAt;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    memories.push(memoryMbOf(worker.pid));
    await worker.stop();
    if (round === 0) continue;
    starts.push(startMs);
    floors.push(floor.wallMs);
    trips.push(trip);
  }
  const ratioBy = (of) => of(starts) / (of(floors) + of(trips));
  return [
    ["size of the installed worker", "agent", sizeOf(join(root, "packages/worker/dist")) / 1e6, "MB", null, ""],
    [
      "start of a worker to registered, fastest",
      "agent",
      minimum(starts),
      "ms",
      ratioBy(minimum),
      "<= 1.3x of node -e 0 and a round trip",
    ],
    ["start of a worker to registered, median", "agent", median(starts), "ms", ratioBy(median), ""],
    ["memory of an idle worker", "agent", Math.max(...memories), "MB", null, "<= 60"],
  ];
}

/**
 * Heap and resident memory of the server for each connection that waits: the first ones are played and stay, the next are those
 * of real workers. A registration leaves garbage, for which V8 makes the young generation larger, by up to 30 MB; it gives that
 * back some seconds later. That is not memory of a connection: each measurement is made when the server has rested.
 */
async function connectionRows(platform, { key, start }) {
  const before = await restedMemoryOf(platform);
  const endPlayed = await connectPlayedWorkers({ url: platform.url, key, pool: "played", count: workers });
  const atOnceKb = memoryMbOf(platform.pid) * 1024;
  const first = await restedMemoryOf(platform);
  const all = await startAll(workers, start);
  const next = await restedMemoryOf(platform);
  await Promise.all(all.map(({ stop }) => stop()));
  await endPlayed();
  const row = (what, kb) => [what, "platform serve", kb / workers, "KB", null, "<= 60"];
  return [
    row(`heap of the server for each of the first ${workers} idle workers`, first.heapKb - before.heapKb),
    row(`resident memory of the server for each of the first ${workers} idle workers`, first.rssKb - before.rssKb),
    row(`heap of the server for each of the next ${workers} idle workers`, next.heapKb - first.heapKb),
    row(`resident memory of the server for each of the next ${workers} idle workers`, next.rssKb - first.rssKb),
    [
      `resident memory that the first ${workers} registrations add until the server has rested`,
      "platform serve",
      (atOnceKb - before.rssKb) / 1024,
      "MB",
      null,
      "",
    ],
  ];
}

const restSeconds = 15;

/** After a rest, and a collection of all garbage. */
async function restedMemoryOf({ pid, heapKb }) {
  const rest = () => new Promise((resolve) => setTimeout(resolve, restSeconds * 1_000));
  await rest();
  await heapKb();
  await rest();
  return { heapKb: await heapKb(), rssKb: memoryMbOf(pid) * 1024 };
}

/** Ten at a time: the machine has few cores. */
async function startAll(count, start) {
  const all = [];
  while (all.length < count) {
    const group = Array.from({ length: Math.min(10, count - all.length) }, (_, index) =>
      start(`w${all.length + index}`),
    );
    await Promise.all(group.map(({ registered }) => registered));
    all.push(...group);
  }
  return all;
}

async function assignmentRows({ root, scratch }) {
  const model = await startModelOfTurns();
  const platform = await startPlatform({
    ...{ root, scratch, modelUrl: model.url },
    env: { PLATFORM_CONCURRENT_RUNS: String(runs) },
  });
  const account = platform.command("keys", "create", "--name", "pool", "--service-account");
  const all = await startAll(workers, (name) => startWorker({ root, scratch, url: platform.url, key: account, name }));
  const cpuMs = () => ({
    server: cpuOf(platform.pid),
    workers: all.reduce((sum, { pid }) => sum + cpuWithChildrenOf(pid), 0),
  });
  const [startedAt, cpuBefore] = [performance.now(), cpuMs()];
  const created = await Promise.all(
    Array.from({ length: runs }, (_, index) =>
      platform.create({ prompt: { text: `run ${index}` }, env: { type: "pool", name: "bench" } }),
    ),
  );
  await Promise.all(created.map(({ stream }) => platform.send("GET", stream)));
  const [tookMs, cpuAfter] = [performance.now() - startedAt, cpuMs()];
  const ended = await Promise.all(created.map((ids) => readRun(platform, ids)));
  const finished = ended.filter(({ status }) => status === "FINISHED").length;
  const { claims, doubles } = claimsIn(platform.command("audit", "export"));
  await Promise.all(all.map(({ stop }) => stop()));
  await platform.stop();
  model.close();
  const what = `${runs} runs at once on ${workers} workers`;
  const cpuOfRun = (part) => (cpuAfter[part] - cpuBefore[part]) / runs;
  if (finished !== runs || doubles > 0) throw new Error(`${what}: ${finished} finished, ${doubles} double assignments`);
  return [
    [`${what}, all finished`, "platform serve", tookMs, "ms", null, ""],
    // All share the cores of this machine: where they are busy, the time above is the sum of these over the cores.
    [`${what}: processor time of the server for each`, "platform serve", cpuOfRun("server"), "ms", null, ""],
    [`${what}: processor time of the worker for each`, "agent", cpuOfRun("workers"), "ms", null, ""],
    [`${what}: claims in the audit log`, "platform serve", claims, "", null, `= ${runs}`],
    [`${what}: workers given to two agents at once`, "platform serve", doubles, "", null, "= 0"],
  ];
}

/** A command first, then the end: by what the conversation has. */
async function startModelOfTurns() {
  const server = createServer((request, response) => {
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", () => {
      const isSecond = Buffer.concat(parts).includes("function_call_output");
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(isSecond ? message("Done.") : command("echo worked"));
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}/v1`, close };
}

const readRun = async (platform, { agentId, runId }) =>
  JSON.parse((await platform.send("GET", `/v1/agents/${agentId}/runs/${runId}`)).text);

/** Replays the whole log: at no moment does a worker belong to two agents. */
function claimsIn(log) {
  const holders = new Map();
  let [claims, doubles] = [0, 0];
  for (const line of log.split("\n").filter((text) => text.includes("worker_claim."))) {
    const { action, subject, data } = JSON.parse(JSON.parse(line).entry);
    if (action === "worker_claim.created") {
      claims += 1;
      if (holders.has(data.worker_id)) doubles += 1;
      holders.set(data.worker_id, subject);
    } else if (action === "worker_claim.deleted" && holders.get(data.worker_id) === subject)
      holders.delete(data.worker_id);
  }
  return { claims, doubles };
}

function sizeOf(path) {
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.size;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}
