// What builds cost that ended long ago: lists of them, lists of environments, and looks for a build to begin.
import { median } from "./measure.mjs";
import { message, startServer } from "./model-server.mjs";
import { startPlatform } from "./platform-server.mjs";

const count = 1_000;
const rounds = 200;

/** Rows of the table: what, who, value, unit, ratio, limit. */
export async function buildRows({ root, scratch, parts }) {
  const model = await startServer(() => message("Hello."));
  const platform = await startPlatform({ root, scratch, modelUrl: model.url });
  const db = parts.openRunning(platform.data);
  try {
    const few = await createEnvironment(platform, "few");
    const many = await createEnvironment(platform, "many");
    for (const id of [few, many]) await awaitEnd(platform, id);
    // A page is full in both.
    await parts.addBuilds(db, { like: few, count: 20 });
    const without = await claimMs(db, parts);
    await parts.addBuilds(db, { like: many, count });
    const lists = await listMs(platform, [few, many]);
    const claim = await claimMs(db, parts);
    const of = `${count} builds of one environment`;
    return [
      ["page of builds, 20 builds", "platform serve", lists[0], "ms", 1, ""],
      [`page of builds, ${of}`, "platform serve", lists[1], "ms", lists[1] / lists[0], "≤ 1.1x"],
      ["look for a build to begin, 20 builds", "platform serve", without, "ms", 1, ""],
      [`look for a build to begin, ${of}`, "platform serve", claim, "ms", claim / without, "≤ 1.1x"],
    ];
  } finally {
    await db.destroy();
    await platform.stop();
    model.close();
  }
}

async function createEnvironment(platform, name) {
  const body = { owner: "team", name, repos: [{ url: platform.repository }], environmentJson: "{}" };
  const { status, text } = await platform.send("POST", "/v1/environments", body);
  if (status !== 201) throw new Error(`an environment was not created: ${status} ${text}`);
  return JSON.parse(text).id;
}

async function awaitEnd(platform, id) {
  for (;;) {
    const { items } = JSON.parse((await platform.send("GET", `/v1/environments/${id}/builds`)).text);
    if (items.length > 0 && items.every(({ status }) => status !== "IN_PROGRESS")) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** In turns. */
async function listMs(platform, ids) {
  const times = ids.map(() => []);
  for (let round = 0; round < rounds + 10; round += 1)
    for (const [index, id] of ids.entries()) {
      const ms = await timed(() => platform.send("GET", `/v1/environments/${id}/builds`));
      if (round >= 10) times[index].push(ms);
    }
  return times.map(median);
}

async function claimMs(db, parts) {
  const times = [];
  for (let round = 0; round < rounds + 10; round += 1) {
    const ms = await timed(() => parts.claimBuild(db, { nodeId: "bench", leaseMs: 10_000, held: [] }));
    if (round >= 10) times.push(ms);
  }
  return median(times);
}

async function timed(work) {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
