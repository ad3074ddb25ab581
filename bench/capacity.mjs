// `npm run bench -- --only capacity`: what one server and its database cost, measured; the simulation held against measurements
// of one and two servers; and then the simulation of a thousand. docs/scale.md has the figures.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { rules, simulate } from "./capacity-simulation.mjs";
import { processTree } from "./measure.mjs";
import { message, startServer } from "./model-server.mjs";
import { cpuOf, startPlatform } from "./platform-server.mjs";
import { takeover } from "./platform-takeover.mjs";
import { connectPlayedWorkers } from "./played-workers.mjs";

const idleSeconds = 20;
/** What a start or a run leaves to do, and until PostgreSQL has counted it. */
const settleSeconds = 15;
const workers = 200;
const runs = 100;

/** Rows of the table: what, who, value, unit, ratio, limit. */
export async function capacityRows({ root, scratch, parts }) {
  const model = await startServer(() => message("Hello."));
  const env = { PLATFORM_CONCURRENT_RUNS: String(runs) };
  const platform = await startPlatform({ root, scratch, modelUrl: model.url, env });
  const measured = await measure({ platform, parts });
  await platform.stop();
  model.close();
  const [median, last] = await takeover({ root, scratch });
  const costs = costsOf(measured);
  return [...measuredRows(measured), ...checkRows({ measured, costs, median, last }), ...largeRows(costs)];
}

async function measure({ platform, parts }) {
  const db = parts.openRunning(platform.data);
  const postmaster = Number(readFileSync(join(platform.data, "postgres/postmaster.pid"), "utf8").split("\n")[0]);
  const cpu = () => ({ server: cpuOf(platform.pid) / 1_000, database: databaseCpu(postmaster) });
  /** What happens meanwhile, by the second. */
  const during = async (work) => {
    const [before, cpuBefore, startedAt] = [await parts.readActivity(db), cpu(), performance.now()];
    await work();
    const seconds = (performance.now() - startedAt) / 1_000;
    const [after, cpuAfter] = [await parts.readActivity(db), cpu()];
    return {
      ...{ seconds, statements: after.transactions - before.transactions, connections: after.connections },
      server: cpuAfter.server - cpuBefore.server,
      database: cpuAfter.database - cpuBefore.database,
    };
  };
  const wait = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
  const duringIdle = async () => {
    await wait(settleSeconds);
    return during(() => wait(idleSeconds));
  };
  const send = async () => platform.send("GET", (await platform.create({ prompt: { text: "hello" } })).stream);
  for (let round = 0; round < 20; round += 1) await send();
  const idle = await duringIdle();
  const another = await platform.serveAnother();
  const twoIdle = await duringIdle();
  const sendAll = () => Promise.all(Array.from({ length: runs }, send));
  // The second server has not run any yet.
  await sendAll();
  const twoBurst = await during(sendAll);
  await another.stop();
  const key = platform.command("keys", "create", "--name", "pool", "--service-account");
  const endWorkers = await connectPlayedWorkers({ url: platform.url, key, pool: "played", count: workers });
  const withWorkers = await duringIdle();
  await endWorkers();
  const listeners = await parts.openListeners(platform.data, {
    count: 1,
    channels: ["runs", "frames", "workers", "cancels", "audit"],
  });
  const single = await during(async () => {
    for (let run = 0; run < runs; run += 1) await send();
  });
  const notices = [...listeners.received.values()].reduce((sum, count) => sum + count, 0) / runs;
  await listeners.close();
  const burst = await during(sendAll);
  const [few, many] = [1, 101];
  const notices1 = await noticeCost({ parts, db, during, data: platform.data, count: few });
  const notices101 = await noticeCost({ parts, db, during, data: platform.data, count: many });
  await db.destroy();
  const delivery = Math.max(0, (notices101 - notices1) / (many - few));
  return { idle, twoIdle, twoBurst, withWorkers, single, burst, notices, notice: notices1, delivery };
}

const noticeCount = 1_000;

/** Processor time of the database for one notification that so many connections receive. */
async function noticeCost({ parts, db, during, data, count }) {
  const listeners = await parts.openListeners(data, { count, channels: ["bench"] });
  const { database } = await during(async () => {
    for (let sent = 0; sent < noticeCount; sent += 1) await parts.sendNotice(db, "bench");
  });
  await listeners.close();
  return database / noticeCount;
}

/** Of the cluster, with what its former children have used. */
function databaseCpu(postmaster) {
  const ticks = Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));
  const fieldsOf = (pid) => readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ").map(Number);
  let total = 0;
  for (const { pid } of processTree(postmaster)) {
    try {
      const fields = fieldsOf(pid);
      total += fields[11] + fields[12] + (pid === postmaster ? fields[13] + fields[14] : 0);
    } catch {
      // It ended after the listing; the postmaster counts it from then on.
    }
  }
  return total / ticks;
}

/** What a run costs beyond a server that is idle for as long. */
function costsOf({ idle, withWorkers, single, notice, delivery }) {
  const idleRate = (of) => idle[of] / idle.seconds;
  const ofRun = (of) => Math.max(0, single[of] - idleRate(of) * single.seconds) / runs;
  const statement = idle.database / idle.statements;
  return {
    ...{ statement, notice, delivery, idleStatementsPerSecond: idleRate("statements") },
    ...{ serverRun: ofRun("server"), databaseRun: ofRun("database"), statementsOfRun: ofRun("statements") },
    reportedWorker:
      (Math.max(0, withWorkers.database / withWorkers.seconds - idleRate("database")) * rules.reportWorkers) / workers,
    registration: 10 * statement,
  };
}

const who = { measured: "measured", simulated: "simulated" };

const measuredRows = ({ idle, notices, notice, delivery, single }) => [
  ["statements of one idle server a second", who.measured, idle.statements / idle.seconds, "", null, ""],
  [
    "processor time of the database for one of them",
    who.measured,
    (1e6 * idle.database) / idle.statements,
    "µs",
    null,
    "",
  ],
  ["connections of one server to the database", who.measured, idle.connections - 1, "", null, ""],
  ["notifications of a run without a command", who.measured, notices, "", null, ""],
  ["processor time of the database for a notification", who.measured, 1e6 * notice, "µs", null, ""],
  ["and for each further server that gets it", who.measured, 1e6 * delivery, "µs", null, ""],
  ["processor time of the server for a run", who.measured, (1e3 * single.server) / runs, "ms", null, ""],
  ["processor time of the database for a run", who.measured, (1e3 * single.database) / runs, "ms", null, ""],
];

const quiet = {
  workers: 0,
  turnSeconds: 0,
  shareOnWorkers: 0,
  noticesPerSecond: 0,
  slots: runs,
  databaseCores: 1,
  lostServers: 0,
};

/** The ratio is that of the simulation to the measurement. */
function checkRows({ measured, costs, median, last }) {
  const pair = (what, [is, expected], unit) => [
    [what, who.measured, is, unit, null, ""],
    [what, who.simulated, expected, unit, expected / is, "0.5x to 2x"],
  ];
  const of = (scenario) => simulate(costs, { ...quiet, seconds: 60, ...scenario });
  const { twoIdle, twoBurst, withWorkers, burst } = measured;
  const lost = of({ servers: 2, burst: 10, turnSeconds: 1e6, lostServers: 1, loseAt: 15, firstOnly: true, seed: 7 });
  return [
    ...pair(
      "statements of two idle servers a second",
      [twoIdle.statements / twoIdle.seconds, of({ servers: 2 }).statementsPerSecond],
      "",
    ),
    ...pair(
      `statements of a server with ${workers} workers a second`,
      [withWorkers.statements / withWorkers.seconds, of({ servers: 1, workers }).statementsPerSecond],
      "",
    ),
    ...pair(`${runs} runs at once on one server`, [burst.seconds, of({ servers: 1, burst: runs }).makespan], "s"),
    ...pair(`${runs} runs at once on two servers`, [twoBurst.seconds, of({ servers: 2, burst: runs }).makespan], "s"),
    ...pair(
      "from the end of a server to the next step of its runs, median",
      [median[2] / 1_000, lost.takeoverMedian],
      "s",
    ),
    ...pair("the same, last", [last[2] / 1_000, lost.takeoverLast], "s"),
  ];
}

/** An agent has a prompt every five hours, and works on it for two minutes; one in two works on a worker. */
const usual = {
  turnSeconds: 120,
  shareOnWorkers: 0.5,
  noticesPerSecond: 0.5,
  slots: 100,
  databaseCores: 32,
  seconds: 60,
};

const large = [
  { servers: 10, workers: 1_000, agents: 10_000 },
  { servers: 100, workers: 10_000, agents: 100_000 },
  { servers: 100, workers: 100_000, agents: 1_000_000 },
  { servers: 1_000, workers: 100_000, agents: 100_000 },
  { servers: 1_000, workers: 100_000, agents: 1_000_000 },
];

function largeRows(costs) {
  return large.flatMap(({ agents, ...size }) => {
    const scenario = { ...usual, ...size, runsPerSecond: agents / (5 * 3_600) };
    const result = simulate(costs, { ...scenario, lostServers: Math.ceil(size.servers / 100), loseAt: 30 });
    if (result.doubles > 0) throw new Error(`${result.doubles} runs had two servers`);
    const what = `${size.servers} servers, ${size.workers} workers, ${agents} agents`;
    const row = (name, value, { unit = "", limit = "" } = {}) => [
      `${what}: ${name}`,
      who.simulated,
      value,
      unit,
      null,
      limit,
    ];
    return [
      row("claims a second", result.claimsPerSecond),
      row("created to claimed, 99th of 100", result.claimSlowest, { unit: "s" }),
      row("notifications a second", result.noticesPerSecond),
      row("deliveries of them a second", result.deliveriesPerSecond),
      row("statements a second", result.statementsPerSecond),
      row("connections of the database", size.servers * (rules.databaseConnections + rules.otherConnections)),
      row("connections of workers for each server", size.workers / size.servers),
      row(`share of ${usual.databaseCores} cores of the database`, 100 * result.databaseShare, {
        unit: "%",
        limit: "< 70",
      }),
      row("lost server to the next step of its runs, last", result.takeoverLast, { unit: "s" }),
    ];
  });
}
