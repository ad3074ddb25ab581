// What retention costs others: claims of runs and reading of streams while a year of frames is being removed; and a page
// of agents where there are many. BENCH_YEAR_FRAMES=10000000 builds a whole year (some minutes and 4 GB of disk).
import { join } from "node:path";
import { message, startServer } from "./model-server.mjs";
import { startPlatform } from "./platform-server.mjs";

const frameCount = Number(process.env.BENCH_YEAR_FRAMES ?? 250_000);
const turns = 3;
const turnMs = 2_000;

/** Rows of the table: what, who, value, unit, ratio, limit. */
export async function retentionRows({ root, scratch, rounds, parts }) {
  const model = await startServer(() => message("Hello."));
  // No runner and no scheduler: the measurement claims runs, and another server removes frames.
  const platform = await startPlatform({ root, scratch, modelUrl: model.url, args: ["--role", "api"] });
  const db = parts.openRunning(platform.data);
  try {
    const { stream, agentId } = await storeStream(platform, db, parts);
    const year = { kekFile: join(platform.data, "kek"), like: agentId };
    const pages = await pagesOfAgents({ platform, db, parts, year, rounds });
    await parts.addYear(db, { frames: frameCount, except: agentId });
    await platform.create({ prompt: { text: "claim me" } });
    return [...pages, ...(await whileRemoving({ platform, db, parts, stream }))];
  } finally {
    await db.destroy();
    await platform.stop();
    model.close();
  }
}

/** The stream of a run that has just ended. */
async function storeStream(platform, db, parts) {
  const ids = await platform.create({ prompt: { text: "talk" } });
  const write = await parts.openFrameWriter(db, { kekFile: join(platform.data, "kek"), ...ids });
  await write(Array(200).fill("A frame of ordinary length, as models send them in one go. ".repeat(2)));
  await parts.endRuns(db);
  return ids;
}

/** The same page with 100 agents and with 5,000. */
async function pagesOfAgents({ platform, db, parts, year, rounds }) {
  const times = { few: [], many: [] };
  const measure = async (into) => {
    for (let round = 0; round < rounds * 8; round += 1)
      into.push(await timed(() => platform.send("GET", "/v1/agents?limit=100")));
  };
  await parts.addAgents(db, { ...year, count: 99 });
  await measure([]);
  await measure(times.few);
  await parts.addAgents(db, { ...year, count: 4_900 });
  await measure([]);
  await measure(times.many);
  const [few, many] = [Math.min(...times.few), Math.min(...times.many)];
  return [["page of 100 agents out of 5,000, compared with 100", "platform serve", many, "ms", many / few, "≤ 1.1x"]];
}

async function whileRemoving({ platform, db, parts, stream }) {
  const leases = parts.openLeases(db, { nodeId: "bench", leaseMs: 10_000 });
  const actions = {
    "claim of a run": async () => leases.release(await leases.claim()),
    "whole stream of a run": () => platform.send("GET", stream),
  };
  const measure = () => measureTurn(actions);
  await measure();
  const idle = [];
  const removing = [];
  const removed = [];
  for (let turn = 0; turn < turns; turn += 1) {
    idle.push(await measure());
    const scheduler = await platform.serveAnother(["--role", "scheduler"]);
    const before = await parts.untilRemoving(db);
    removing.push(await measure());
    removed.push((await parts.untilRemoving(db)) - before);
    await scheduler.stop();
  }
  const what = `while ${frameCount.toLocaleString("en")} frames are being removed`;
  const rows = Object.keys(actions).map((name) => {
    const [base, value] = [idle, removing].map((all) => average(all.flatMap((times) => times[name])));
    return [`${name}, ${what}`, "platform serve", value, "ms", value / base, "≤ 1.1x"];
  });
  return [...rows, ["frames removed per second", "platform serve", perSecond(removed), "", null, ""]];
}

const perSecond = (removed) => removed.reduce((sum, count) => sum + count, 0) / ((turns * turnMs) / 1_000);

async function measureTurn(actions) {
  const times = Object.fromEntries(Object.keys(actions).map((name) => [name, []]));
  const end = performance.now() + turnMs;
  while (performance.now() < end)
    for (const [name, action] of Object.entries(actions)) times[name].push(await timed(action));
  return times;
}

/** Of all but the slowest hundredth, which other programs of the machine cause. */
function average(times) {
  const kept = times.sort((left, right) => left - right).slice(0, Math.ceil(times.length * 0.99));
  return kept.reduce((sum, ms) => sum + ms, 0) / kept.length;
}

async function timed(work) {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
