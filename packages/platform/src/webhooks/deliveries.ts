// Deliveries as work that goes on between requests: the outbox becomes jobs, and jobs are attempts.
import { startJobs } from "../jobs/index.ts";
import type { Platform } from "../platform.ts";
import { attemptDelivery, type DeliveryHost } from "./deliver.ts";
import { type DeliveryJob, deliveryTask, outboxChannel, queueDeliveries } from "./outbox.ts";

const lookEveryMs = 10_000;

export async function startDeliveries(platform: Platform, host: DeliveryHost): Promise<{ stop(): Promise<void> }> {
  const { db, log, notifications } = platform;
  const jobs = await startJobs(platform, {
    [deliveryTask]: (payload, signal) => attemptDelivery(host, payload as DeliveryJob, signal),
  });
  const look = () => queueDeliveries(db).catch((error: unknown) => log.error("webhooks.queueing_failed", error, {}));
  const unlisten = await notifications.subscribe(outboxChannel, { onMessage: look, onGap: look });
  const looking = setInterval(look, lookEveryMs);
  await look();
  return {
    async stop() {
      unlisten();
      clearInterval(looking);
      await jobs.stop();
    },
  };
}
