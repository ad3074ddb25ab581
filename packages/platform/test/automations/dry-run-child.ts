// Runs a dry run in a network namespace of its own and prints its result with what the kernel counted; started by
// dry-run.test.ts. With `attempt` it sends a request first, which the counters must show.
import { dryRun } from "../../src/automations/inbound/dry-run.ts";
import { openPlatformContext } from "../../src/foundation/context.ts";
import { silentLog } from "../../src/foundation/telemetry/index.ts";
import { testSettings } from "../harness/settings.ts";
import { automationHost } from "./automation-harness.ts";
import { countPackets } from "./count-packets.ts";

const { databaseUrl, dataDirectory, automationId, attempt } = JSON.parse(process.argv[2] ?? "{}");
const platform = await openPlatformContext({ ...testSettings(dataDirectory), databaseUrl }, silentLog);
const host = automationHost(platform, () => new Date());
const automation = await platform.db
  .selectFrom("automations")
  .selectAll()
  .where("id", "=", automationId)
  .executeTakeFirstOrThrow();
if (attempt) await fetch("http://192.0.2.1/").catch(() => {});
const { looked, items } = await dryRun(host, automation, 50);
await platform.close();
console.log(JSON.stringify({ looked, outcomes: items.map(({ outcome }) => outcome), packets: countPackets() }));
