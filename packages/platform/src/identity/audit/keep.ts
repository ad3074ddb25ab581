// Advances the anchor with the audit log, as long as the log continues from what this server last verified.
import { setTimeout as pause } from "node:timers/promises";
import { type Activity, type PlatformContext, recordAuditEvent } from "../../foundation/index.ts";
import { type Anchor, readAnchor, writeAnchor } from "./anchor.ts";
import { emptyHead, findBreak, type Head } from "./chain.ts";
import { headQuery, readLinks } from "./stored.ts";

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

type AnchorCheck = { kind: "whole"; head: Head } | { kind: "broken"; reason: string };

/** A broken log is left unchanged, as evidence. */
async function moveAnchor({ db, vault, settings }: PlatformContext, seen: Head | null): Promise<AnchorCheck> {
  const { dataDirectory } = settings;
  const head = await headQuery(db).executeTakeFirst();
  if (!head) return { kind: "broken", reason: "the head of the log is missing" };
  const anchor = await readAnchor(dataDirectory, vault);
  const isProved = anchor.kind === "kept";
  if (anchor.kind === "forged" || (seen !== null && !isProved)) return { kind: "broken", reason: anchorReplaced };
  const from = seen ?? (anchor.kind === "none" ? emptyHead : anchor.head);
  // Another server is ahead; its anchor must not be moved back.
  if (from.seq > head.seq || (isProved && anchor.head.seq > head.seq)) return { kind: "whole", head: from };
  const reason = await breakBetween(from, head, readLinks(db, from.seq));
  if (reason !== null) return { kind: "broken", reason };
  if (!isProved || anchor.head.seq < head.seq) await writeAnchor(dataDirectory, head, [vault]);
  if (!isProved) await recordAuditEvent(db, anchorBegun(anchor, head));
  return { kind: "whole", head };
}

const anchorReplaced = "audit-head was removed, or replaced without the key-encryption key";

/** Recorded in the log itself: replacing the log requires removing the anchor first, and this entry shows it. */
const anchorBegun = ({ kind }: Anchor, { seq }: Head) => ({
  action: "audit_anchor.begun",
  subject: "platform",
  data: { before: kind, after: seq },
});

/** Why the log does not lead from one head to the other; null where it does. */
async function breakBetween(from: Head, to: Head, links: ReturnType<typeof readLinks>): Promise<string | null> {
  let last = from;
  for await (const link of links) {
    if (link.seq > to.seq) break;
    const reason = findBreak(link, last);
    if (reason !== null) return `entry ${last.seq + 1}: ${reason}`;
    last = link;
  }
  if (last.seq === to.seq && last.hash.equals(to.hash)) return null;
  return `the log does not continue from entry ${from.seq} as recorded in the anchor`;
}
