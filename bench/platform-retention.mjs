// What retention costs others: claims of runs and reading of streams while a year of frames is being removed; and a page
// of agents where there are many. BENCH_YEAR_FRAMES=10000000 builds a whole year (some minutes and 4 GB of disk).
import { join } from "node:path";
import { median } from "./measure.mjs";
import { message, startServer } from "./model-server.mjs";
import { startPlatform } from "./platform-server.mjs";

const frameCount = Number(process.env.BENCH_YEAR_FRAMES ?? 250_000);
/** Pairs of turns, with and without removal. */
const pairs = 7;
const turnMs = 2_000;
const yearSeconds = 365 * 86_400;
const pagesPerRound = 20;
const warmUps = 40;

/** Rows of the table: what, who, value, unit, ratio, limit. */
export async function retentionRows({ root, scratch, rounds, parts }) {
  const model = await startServer(() => message("Hello."));
  const open = (agents) => openWithAgents({ root, scratch, parts, modelUrl: model.url, agents });
  const few = await open(100);
  const many = await open(5_000);
  try {
    const pages = await pagesOfAgents({ few, many, rounds });
    await few.close();
    const { platform, db, agentId, stream } = many;
    await parts.addYear(db, { frames: frameCount, except: agentId });
    await platform.create({ prompt: { text: "claim me" } });
    return [...pages, ...(await whileRemoving({ platform, db, parts, stream }))];
  } finally {
    await few.close();
    await many.close();
    model.close();
  }
}

/** No runner and no scheduler: the measurement claims runs, and another server removes frames. */
async function openWithAgents({ root, scratch, parts, modelUrl, agents }) {
  const platform = await startPlatform({ root, scratch, modelUrl, args: ["--role", "api"] });
  const db = parts.openRunning(platform.data);
  const ids = await storeStream(platform, db, parts);
  await parts.addAgents(db, { kekFile: join(platform.data, "kek"), like: ids.agentId, count: agents - 1 });
  let closing;
  const close = async () => {
    await db.destroy();
    await platform.stop();
  };
  return { platform, db, ...ids, close: () => (closing ??= close()) };
}

/** The stream of a run that has just ended. */
async function storeStream(platform, db, parts) {
  const ids = await platform.create({ prompt: { text: "talk" } });
  const write = await parts.openFrameWriter(db, { kekFile: join(platform.data, "kek"), ...ids });
  await write(Array(200).fill("A frame of ordinary length, as models send them in one go. ".repeat(2)));
  await parts.endRuns(db);
  return ids;
}

/** The same page of two platforms, one with 100 agents and one with 5,000, in turn. */
async function pagesOfAgents({ few, many, rounds }) {
  const times = { few: [], many: [] };
  const readPage = async ({ platform }, into) =>
    into.push(await timed(() => platform.send("GET", "/v1/agents?limit=100")));
  for (let round = -warmUps; round < rounds * pagesPerRound; round += 1) {
    await readPage(few, round < 0 ? [] : times.few);
    await readPage(many, round < 0 ? [] : times.many);
  }
  const [base, value] = [median(times.few), median(times.many)];
  return [
    ["page of 100 agents out of 5,000, compared with 100", "platform serve", value, "ms", value / base, "≤ 1.1x"],
  ];
}

/** Two servers that differ only in what is due: one removes frames, for the other all of them are to be kept. */
async function whileRemoving({ platform, db, parts, stream }) {
  const leases = parts.openLeases(db, { nodeId: "bench", leaseMs: 10_000 });
  const actions = {
    "claim of a run": async () => leases.release(await leases.claim()),
    "whole stream of a run": () => platform.send("GET", stream),
  };
  const beside = async (env) => {
    const scheduler = await platform.serveAnother(["--role", "scheduler"], env);
    const removes = env === undefined;
    await measureTurn(actions);
    const before = removes ? await parts.untilRemoving(db) : 0;
    const times = await measureTurn(actions);
    const removed = removes ? (await parts.untilRemoving(db)) - before : 0;
    await scheduler.stop();
    return { times, removed };
  };
  const keeping = [];
  const removing = [];
  const keep = async () => keeping.push(await beside({ PLATFORM_STREAM_RETENTION_SECONDS: String(yearSeconds) }));
  const remove = async () => removing.push(await beside());
  for (let pair = 0; pair < pairs; pair += 1)
    for (const next of pair % 2 === 0 ? [keep, remove] : [remove, keep]) await next();
  const what = `while ${frameCount.toLocaleString("en")} frames are being removed`;
  const rows = Object.keys(actions).map((name) => {
    const [base, value] = [keeping, removing].map((all) => all.map(({ times }) => average(times[name])));
    // Of each pair, as its turns follow each other: other programs of the machine disturb some of them.
    const ratio = median(value.map((ms, pair) => ms / base[pair]));
    return [`${name}, ${what}`, "platform serve", median(value), "ms", ratio, "≤ 1.1x"];
  });
  return [...rows, ["frames removed per second", "platform serve", perSecond(removing), "", null, ""]];
}

const perSecond = (removing) => removing.reduce((sum, { removed }) => sum + removed, 0) / ((pairs * turnMs) / 1_000);

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
