// Moves the anchor along with the audit log, as long as the log goes on from where it was when this server last looked.
import { setTimeout as pause } from "node:timers/promises";
import { noteHappening } from "../db/index.ts";
import type { Activity, Platform } from "../platform.ts";
import { type Anchor, readAnchor, writeAnchor } from "./anchor.ts";
import { beginning, faultOf, type Head } from "./chain.ts";
import { headQuery, readLinks } from "./stored.ts";

/** Entries come in crowds; one look for all of a second is enough. */
const gatherMs = 1_000;

/** Looks before it returns, then whenever the head has moved, and once more at the end. */
export async function keepAnchor(platform: Platform): Promise<Activity> {
  const { notifications, log } = platform;
  const stop = new AbortController();
  let isWanted = false;
  let wake = (): void => {};
  const want = () => {
    isWanted = true;
    wake();
  };
  const unsubscribe = await notifications.subscribe("audit", { onMessage: want, onGap: want });
  let seen: Head | null = null;
  let complaint = "";
  const keep = async (): Promise<void> => {
    isWanted = false;
    try {
      const looked = await moveAnchor(platform, seen);
      if (looked.kind === "whole") seen = looked.head;
      else if (looked.reason !== complaint) log.error("audit.tampered", new Error(looked.reason));
      complaint = looked.kind === "whole" ? "" : looked.reason;
    } catch (error) {
      log.error("audit.anchor_failed", error);
    }
  };
  const watch = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      if (!isWanted) await new Promise<void>((resolve) => (wake = resolve));
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
      want();
      await watching;
    },
  };
}

type Looked = { kind: "whole"; head: Head } | { kind: "broken"; reason: string };

/** What is broken stays as it is, as evidence. */
async function moveAnchor({ db, vault, settings }: Platform, seen: Head | null): Promise<Looked> {
  const { dataDirectory } = settings;
  const head = await headQuery(db).executeTakeFirst();
  if (!head) return { kind: "broken", reason: "the end of the log is not marked" };
  const anchor = await readAnchor(dataDirectory, vault);
  const isProved = anchor.kind === "kept";
  if (anchor.kind === "forged" || (seen !== null && !isProved)) return { kind: "broken", reason: replaced };
  const from = seen ?? (anchor.kind === "none" ? beginning : anchor.head);
  // Another server is further on; what it knows must not be undone.
  if (from.seq > head.seq || (isProved && anchor.head.seq > head.seq)) return { kind: "whole", head: from };
  const reason = await breakBetween(from, head, readLinks(db, from.seq));
  if (reason !== null) return { kind: "broken", reason };
  if (!isProved || anchor.head.seq < head.seq) await writeAnchor(dataDirectory, head, [vault]);
  if (!isProved) await noteHappening(db, beginningOf(anchor, head));
  return { kind: "whole", head };
}

const replaced = "audit-head was removed or replaced by somebody who does not have the key-encryption key";

/** Seen by everybody who reads the log: whoever replaces it has to remove the anchor first. */
const beginningOf = ({ kind }: Anchor, { seq }: Head) => ({
  action: "audit_anchor.begun",
  subject: "platform",
  data: { before: kind, after: seq },
});

/** What keeps the log from leading from one head to the other. */
async function breakBetween(from: Head, to: Head, links: ReturnType<typeof readLinks>): Promise<string | null> {
  let last = from;
  for await (const link of links) {
    if (link.seq > to.seq) break;
    const reason = faultOf(link, last);
    if (reason !== null) return `entry ${last.seq + 1}: ${reason}`;
    last = link;
  }
  if (last.seq === to.seq && last.hash.equals(to.hash)) return null;
  return `the log does not go on from entry ${from.seq} as it was when its head was kept`;
}
