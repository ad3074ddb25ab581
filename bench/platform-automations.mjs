// What automations cost while nothing is due: looks of the scheduler, transactions and rows read, with 1,000 of them and
// with none. Counted by the database itself. BENCH_IDLE_SECONDS says how long.
import { setTimeout as delay } from "node:timers/promises";
import { message, startServer } from "./model-server.mjs";
import { startPlatform } from "./platform-server.mjs";

const idleMs = Number(process.env.BENCH_IDLE_SECONDS ?? 120) * 1000;
const count = 1_000;
/** The server has done what follows a start or a change, and the database has added up what it counted. */
const settleMs = 15_000;

/** Rows of the table: what, who, value, unit, ratio, limit. */
export async function automationRows({ root, scratch, parts }) {
  const model = await startServer(() => message("Hello."));
  const platform = await startPlatform({ root, scratch, modelUrl: model.url });
  const db = parts.openRunning(platform.data);
  try {
    const none = await perMinute(db, parts);
    for (let done = 0; done < count; done += 10)
      await Promise.all(Array.from({ length: 10 }, (_, index) => createAutomation(platform, done + index)));
    const many = await perMinute(db, parts);
    const who = "platform serve";
    return [
      [`looks of the scheduler per minute, ${count} idle automations`, who, many.looks, "", null, "1"],
      ["rows of automations read without an index, per minute", who, many.rowsRead, "", null, "0"],
      ["transactions per minute, no automations", who, none.transactions, "", null, ""],
      [
        `transactions per minute, ${count} idle automations`,
        who,
        many.transactions,
        "",
        many.transactions / none.transactions,
        "",
      ],
    ];
  } finally {
    await db.destroy();
    await platform.stop();
    model.close();
  }
}

async function createAutomation(platform, number) {
  const triggers = [
    { type: "cron", cron: "0 0 1 1 *" },
    { type: "webhook" },
    { type: "github", event: "pull_request.opened", repos: [platform.repository] },
  ];
  const target = { type: "repo", repoUrl: platform.repository };
  const body = { name: `idle ${number}`, prompt: { text: "look" }, triggers, target };
  const { status, text } = await platform.send("POST", "/v1/automations", body);
  if (status !== 201) throw new Error(`an automation was not created: ${status} ${text}`);
}

async function perMinute(db, parts) {
  await delay(settleMs);
  const before = await parts.countIdleWork(db);
  await delay(idleMs);
  const after = await parts.countIdleWork(db);
  const rate = (name) => ((after[name] - before[name]) * 60_000) / idleMs;
  return { looks: rate("looks"), rowsRead: rate("rowsRead"), transactions: rate("transactions") };
}
