// Runs a dry run in a network namespace of its own and prints its result with what the kernel counted; started by
// dry-run.test.ts. With `attempt` it sends a request first, which the counters must show.
import { existsSync, readFileSync } from "node:fs";
import { dryRun } from "../../src/automations/inbound/dry-run.ts";
import { openPlatformContext } from "../../src/foundation/context.ts";
import { silentLog } from "../../src/foundation/telemetry/index.ts";
import { testSettings } from "../harness/settings.ts";
import { automationHost } from "./automation-harness.ts";

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

/** Packets of both versions that were sent, or for which there was no way. */
function countPackets(): number {
  const [names = "", values = ""] = linesOf("/proc/net/snmp").filter((line) => line.startsWith("Ip: "));
  const counts = values.split(" ");
  const four = names.split(" ").map((name, index) => [name, counts[index] ?? "0"]);
  const six = linesOf("/proc/net/snmp6").map((line) => line.split(/\s+/));
  return [...four, ...six]
    .filter(([name = ""]) => /^(?:Ip6)?Out(?:Requests|NoRoutes)$/.test(name))
    .reduce((total, [, count]) => total + Number(count), 0);
}

/** None where the kernel has no such protocol. */
function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
}
