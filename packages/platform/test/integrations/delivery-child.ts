// A server that only delivers webhooks; prints a line when ready and waits to be killed.
import type { Settings } from "../../src/foundation/config/index.ts";
import { openPlatformContext } from "../../src/foundation/context.ts";
import { openNetworkPolicy } from "../../src/foundation/network/index.ts";
import { silentLog } from "../../src/foundation/telemetry/index.ts";
import { deliveryTimeoutMs, startDeliveries } from "../../src/integrations/webhooks/index.ts";

const settings: Settings = JSON.parse(process.argv[2] ?? "{}");
const platform = await openPlatformContext(settings, silentLog);
const policy = openNetworkPolicy({ allowPrivate: settings.allowPrivate });
const now = () => new Date();
await startDeliveries(platform, {
  platform,
  policy,
  now,
  publicUrl: () => "http://here",
  timeoutMs: deliveryTimeoutMs,
});
console.log("delivering");
