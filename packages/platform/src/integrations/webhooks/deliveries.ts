// The delivery activity: turns outbox rows into jobs, and executes each job as one attempt.

import type { PlatformContext } from "../../foundation/index.ts";
import { startJobs } from "../../operations/index.ts";
import { attemptDelivery } from "./deliver.ts";
import type { DeliveryHost } from "./host.ts";
import { type DeliveryJob, deliveryTask, outboxChannel, queueDeliveries } from "./outbox.ts";

const pollIntervalMs = 10_000;

export async function startDeliveries(
  platform: PlatformContext,
  host: DeliveryHost,
): Promise<{ stop(): Promise<void> }> {
  const { db, log, notifications } = platform;
  const jobs = await startJobs(platform, {
    [deliveryTask]: (payload, signal) => attemptDelivery(host, payload as DeliveryJob, signal),
  });
  const enqueueDue = () =>
    queueDeliveries(db).catch((error: unknown) => log.error("webhooks.queueing_failed", error, {}));
  const unlisten = await notifications.subscribe(outboxChannel, { onMessage: enqueueDue, onGap: enqueueDue });
  const timer = setInterval(enqueueDue, pollIntervalMs);
  await enqueueDue();
  return {
    async stop() {
      unlisten();
      clearInterval(timer);
      await jobs.stop();
    },
  };
}
