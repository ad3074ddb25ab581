// Processes all events that wait and starts what is due, as a server does; killed by burst.test.ts. Prints its peak memory.
import { releaseOwnClaims, startDueFirings } from "../../src/automations/firings/scheduler.ts";
import { processEvents } from "../../src/automations/inbound/process.ts";
import { openPlatformContext } from "../../src/foundation/context.ts";
import { silentLog } from "../../src/foundation/telemetry/index.ts";
import { testSettings } from "../harness/settings.ts";
import { automationHost } from "./automation-harness.ts";

const { databaseUrl, dataDirectory, now } = JSON.parse(process.argv[2] ?? "{}");
const platform = await openPlatformContext({ ...testSettings(dataDirectory), databaseUrl }, silentLog);
const host = automationHost({ ...platform, nodeId: "node" }, () => new Date(now));
await releaseOwnClaims(host);
await processEvents(host);
await startDueFirings(host);
await platform.close();
console.log(Math.round(process.resourceUsage().maxRSS / 1024));
