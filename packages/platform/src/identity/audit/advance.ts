// Moves the anchor along the audit log, as long as the log continues from where the anchor was.
import { type Kysely, sql } from "kysely";
import { recordAuditEvent, type Tables, type Vault } from "../../foundation/index.ts";
import { type Anchor, readAnchor, writeAnchor } from "./anchor.ts";
import { emptyHead, findBreak, type Head } from "./chain.ts";
import { usualLockLimitMs, withLockLimit } from "./lock-limit.ts";
import { headQuery, readLinks } from "./stored.ts";

export interface AnchorContext {
  db: Kysely<Tables>;
  vault: Vault;
  settings: { dataDirectory: string };
  /** How long another session may hold a lock of the anchor or of the log. */
  lockLimitMs?: number;
}

export type AnchorCheck = { kind: "whole"; head: Head } | { kind: "broken"; reason: string };

/** For commands, whose entries would otherwise wait for the next server. Only a server begins an anchor in an older log. */
export async function continueAnchor(context: AnchorContext): Promise<AnchorCheck | null> {
  const { vault, settings } = context;
  const { kind } = await readAnchor(settings.dataDirectory, vault);
  return kind === "kept" || kind === "forged" || vault.isFirstUse ? moveAnchor(context, null) : null;
}

const lockNumber = 7420_0003;

/** A broken log is left unchanged, as evidence. */
export async function moveAnchor(context: AnchorContext, seen: Head | null): Promise<AnchorCheck> {
  const check = await moveOnce(context, seen);
  // The entry about the beginning is covered too, once it is committed.
  return check.kind === "begun" ? moveAnchor(context, check.head) : check;
}

/** One process at a time: another one must not move the anchor back. */
const moveOnce = ({ db, vault, settings, lockLimitMs = usualLockLimitMs }: AnchorContext, seen: Head | null) =>
  db.transaction().execute((transaction) =>
    withLockLimit(transaction, { limitMs: lockLimitMs, what: notUpdated }, async () => {
      await sql`select pg_advisory_xact_lock(${lockNumber})`.execute(transaction);
      return moveAlone({ db: transaction, vault, settings }, seen);
    }),
  );

const notUpdated = `The file audit-head, which proves the audit log, cannot be updated (advisory lock ${lockNumber})`;

async function moveAlone(
  { db, vault, settings }: AnchorContext,
  seen: Head | null,
): Promise<AnchorCheck | { kind: "begun"; head: Head }> {
  const { dataDirectory } = settings;
  const head = await headQuery(db).executeTakeFirst();
  if (!head) return { kind: "broken", reason: "the head of the log is missing" };
  const anchor = await readAnchor(dataDirectory, vault);
  const isProved = anchor.kind === "kept";
  if (anchor.kind === "forged" || (seen !== null && !isProved)) return { kind: "broken", reason: anchorReplaced };
  const from = seen ?? (anchor.kind === "none" ? emptyHead : anchor.head);
  // The lock is held: no other server is ahead.
  const missing = Math.max(from.seq, isProved ? anchor.head.seq : 0) - head.seq;
  if (missing > 0) return { kind: "broken", reason: `the last ${missing} entries are missing` };
  const reason = await breakBetween(from, head, readLinks(db, from.seq));
  if (reason !== null) return { kind: "broken", reason };
  // What an anchor has left unproved stays so: the database alone decides what a first use is.
  const begunAfter = isProved ? anchor.begunAfter : vault.isFirstUse ? 0 : head.seq;
  if (!isProved || anchor.head.seq < head.seq || anchor.begunAfter !== begunAfter)
    await writeAnchor(dataDirectory, { head, begunAfter }, [vault]);
  if (isProved) return { kind: "whole", head };
  await recordAuditEvent(db, anchorBegun(anchor, head));
  return { kind: "begun", head };
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
