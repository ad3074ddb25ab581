// Entries of the audit log that are about one team: those of its users and service accounts, and what names the team.
import type { AuditEntry, AuditPage, AuditQuery } from "@agentcli/protocol/api";
import type { Kysely } from "kysely";
import type { Tables } from "../../foundation/index.ts";
import { namesOfActors } from "../principals/index.ts";

const batchSize = 1000;
/** A caller whose team did little still gets an answer in time; the next page continues. */
const maxBatches = 10;

type StoredEntry = Omit<AuditEntry, "actorName">;

export async function readEntries(db: Kysely<Tables>, teamId: number, query: AuditQuery): Promise<AuditPage> {
  const names = await namesOfActors(db, teamId);
  const items: AuditEntry[] = [];
  let before = query.cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(query.cursor);
  for (let batch = 0; batch < maxBatches; batch += 1) {
    const entries = await readBatch(db, before);
    for (const entry of entries) {
      before = entry.seq;
      if (!isOfTeam(entry, teamId, names) || !isWanted(entry, query)) continue;
      items.push({ ...entry, actorName: names.get(entry.actor) ?? entry.actor });
      if (items.length === query.limit) return { items, nextCursor: String(before) };
    }
    if (entries.length < batchSize) return { items };
  }
  return { items, nextCursor: String(before) };
}

async function readBatch(db: Kysely<Tables>, before: number): Promise<StoredEntry[]> {
  const rows = await db
    .selectFrom("audit_entries")
    .select("entry")
    .where("seq", "<", before)
    .orderBy("seq", "desc")
    .limit(batchSize)
    .execute();
  return rows.map(({ entry }) => JSON.parse(entry) as StoredEntry);
}

/** An actor of another team never changes anything of this one. */
const isOfTeam = ({ actor, action, subject, data }: StoredEntry, teamId: number, names: Map<string, string>): boolean =>
  names.has(actor) || data.team_id === teamId || (action.startsWith("team.") && subject === String(teamId));

const isWanted = (entry: StoredEntry, { action = "", actor }: AuditQuery): boolean =>
  entry.action.startsWith(action) && (actor === undefined || entry.actor === actor);
