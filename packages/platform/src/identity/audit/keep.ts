// Keeps the anchor at the head of the audit log while a server runs.
import { setTimeout as pause } from "node:timers/promises";
import type { Activity, PlatformContext } from "../../foundation/index.ts";
import { moveAnchor } from "./advance.ts";
import type { Head } from "./chain.ts";

/** Entries arrive in bursts; one check per second is enough. */
const gatherMs = 1_000;

/** Checks once before it returns, then whenever the head has moved, and a last time when stopped. */
export async function keepAnchor(platform: PlatformContext): Promise<Activity> {
  const { notifications, log } = platform;
  const stop = new AbortController();
  let isPending = false;
  let wake = (): void => {};
  const requestCheck = () => {
    isPending = true;
    wake();
  };
  const unsubscribe = await notifications.subscribe("audit", { onMessage: requestCheck, onGap: requestCheck });
  let seen: Head | null = null;
  let reportedReason = "";
  const keep = async (): Promise<void> => {
    isPending = false;
    try {
      const check = await moveAnchor(platform, seen);
      if (check.kind === "whole") seen = check.head;
      else if (check.reason !== reportedReason) log.error("audit.tampered", new Error(check.reason));
      reportedReason = check.kind === "whole" ? "" : check.reason;
    } catch (error) {
      log.error("audit.anchor_failed", error);
      // Entries that it should have covered wait for it, whether others follow or not.
      isPending = true;
    }
  };
  const watch = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      if (!isPending) await new Promise<void>((resolve) => (wake = resolve));
      await pause(gatherMs, undefined, { signal: stop.signal }).catch(() => {});
      if (!stop.signal.aborted) await keep();
    }
    await keep();
  };
  await keep();
  const watching = watch();
  return {
    async stop() {
      unsubscribe();
      stop.abort();
      requestCheck();
      await watching;
    },
  };
}
