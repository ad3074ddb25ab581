// A server that only delivers webhooks; it says so and waits to be killed.
import type { Settings } from "../src/config/index.ts";
import { openNetworkPolicy } from "../src/network/index.ts";
import { openPlatform } from "../src/platform.ts";
import { silentLog } from "../src/telemetry/index.ts";
import { deliveryLimitMs, startDeliveries } from "../src/webhooks/index.ts";

const settings: Settings = JSON.parse(process.argv[2] ?? "{}");
const platform = await openPlatform(settings, silentLog);
const policy = openNetworkPolicy({ allowPrivate: settings.allowPrivate });
const now = () => new Date();
await startDeliveries(platform, { platform, policy, now, publicUrl: () => "http://here", limitMs: deliveryLimitMs });
console.log("delivering");
