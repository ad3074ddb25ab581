// Runs a back-test in a network namespace of its own, with the practice model, and prints its result with what the kernel
// counted; started by backtest.test.ts. With `attempt` it sends a request first, which the counters must show.
import { setTimeout as delay } from "node:timers/promises";
import { requestBacktest, showBacktest } from "../../src/automations/backtests/store.ts";
import { openPlatformContext, openServerContext } from "../../src/foundation/context.ts";
import { silentLog } from "../../src/foundation/telemetry/index.ts";
import { startActivities } from "../../src/serve.ts";
import { openSubjects } from "../../src/subjects.ts";
import { testSettings } from "../harness/settings.ts";
import { countPackets } from "./count-packets.ts";

const { databaseUrl, dataDirectory, programDirectory, automationId, attempt, url } = JSON.parse(
  process.argv[2] ?? "{}",
);
const settings = {
  ...testSettings(dataDirectory),
  ...{ databaseUrl, programDirectory, roles: ["runner" as const, "scheduler" as const] },
  variables: { PATH: process.env.PATH },
};
const platform = await openPlatformContext(settings, silentLog);
const context = openServerContext(platform, () => url);
const activities = await startActivities(context, await openSubjects(context));
const automation = await platform.db
  .selectFrom("automations")
  .selectAll()
  .where("id", "=", automationId)
  .executeTakeFirstOrThrow();
if (attempt) await fetch("http://192.0.2.1/").catch(() => {});
const row = await requestBacktest(platform, automation, { last: 5, createdBy: "test" });
const read = async () =>
  showBacktest(
    platform,
    automation,
    await platform.db.selectFrom("automation_backtests").selectAll().where("id", "=", row.id).executeTakeFirstOrThrow(),
  );
let backtest = await read();
while (backtest.status !== "done") {
  await delay(100);
  backtest = await read();
}
const packets = countPackets();
await Promise.all(activities.map((activity) => activity.stop()));
await platform.close();
console.log(JSON.stringify({ items: backtest.items, packets }));
