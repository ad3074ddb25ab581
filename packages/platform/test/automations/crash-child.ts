// Looks once for firings that are due, as a server does that has just been started; killed by crash.test.ts.

import { releaseOwnClaims, startDueFirings } from "../../src/automations/firings/scheduler.ts";
import { openPlatformContext } from "../../src/foundation/context.ts";
import { silentLog } from "../../src/foundation/telemetry/index.ts";
import { testSettings } from "../harness/settings.ts";
import { automationHost } from "./automation-harness.ts";

const { databaseUrl, dataDirectory, now } = JSON.parse(process.argv[2] ?? "{}");
const platform = await openPlatformContext({ ...testSettings(dataDirectory), databaseUrl }, silentLog);
const host = automationHost({ ...platform, nodeId: "node" }, () => new Date(now));
await releaseOwnClaims(host);
await startDueFirings(host);
await platform.close();
