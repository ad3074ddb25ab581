// Notes that the runs of an automation leave for later runs: named files with their history. People edit them as well.
import { sql } from "kysely";
import { ApiError, type DataKey, type Queries } from "../../foundation/index.ts";

export const defaultMemory = "MEMORIES.md";
export const maxMemoryBytes = 64 * 1024;
export const maxMemories = 50;
/** Older versions of a file are removed. */
const maxVersions = 50;
/** Of all versions that are not the latest of a file, those of deleted files among them: beyond it the oldest go. */
const maxHistoryBytes = 8 * 1024 * 1024;
/** Of a version without its text. */
const rowBytes = 1024;

export interface MemoryEntry {
  name: string;
  version: number;
  bytes: number;
  author: string;
  updatedAt: Date;
}

export interface Memory extends MemoryEntry {
  text: string;
}

/** Of one automation. `author` is shown in the history. */
export interface Memories {
  /** By name. */
  list(): Promise<MemoryEntry[]>;
  /** Null if there is none of that name. */
  read(name: string): Promise<Memory | null>;
  /** Throws ApiError `validation_error` for a name or a text that is refused. */
  write(name: string, change: { text: string; author: string }): Promise<MemoryEntry>;
  /** False if there is none of that name. Its history stays. */
  remove(name: string, author: string): Promise<boolean>;
  /** Latest first; a version without a text is a removal. */
  history(name: string): Promise<(MemoryEntry & { text: string | null })[]>;
}

export interface MemoriesOptions {
  db: Queries;
  key: DataKey;
  automationId: string;
}

export function openMemories(options: MemoriesOptions): Memories {
  const { key } = options;
  const aadOf = aadsOf(options);
  return {
    list: () => listLatest(options),
    async read(name) {
      const [row] = await readVersions(options, name, 1);
      if (!row?.text) return null;
      const { version, bytes, author, created_at: updatedAt } = row;
      return { name, version, bytes, author, updatedAt, text: key.openText(row.text, aadOf(name, version)) };
    },
    async write(name, { text, author }) {
      checkMemory(name, text);
      const files = await listLatest(options);
      if (files.length >= maxMemories && !files.some((file) => file.name === name))
        throw new ApiError("validation_error", `There are ${maxMemories} memories already; delete one first.`);
      return append(options, name, { text, author });
    },
    async remove(name, author) {
      if (!(await listLatest(options)).some((file) => file.name === name)) return false;
      await append(options, name, { text: null, author });
      return true;
    },
    history: async (name) =>
      (await readVersions(options, name, maxVersions)).map(({ version, bytes, author, created_at, text }) => ({
        ...{ name, version, bytes, author, updatedAt: created_at },
        text: text && key.openText(text, aadOf(name, version)),
      })),
  };
}

const aadsOf =
  ({ automationId }: MemoriesOptions) =>
  (name: string, version: number): string =>
    `automation-memory:${automationId}:${name}:${version}`;

async function listLatest({ db, automationId }: MemoriesOptions): Promise<MemoryEntry[]> {
  const { rows } = await sql<Omit<MemoryEntry, "updatedAt"> & { created_at: Date }>`
    select name, version, bytes, author, created_at from (
      select distinct on (name) name, version, bytes, author, created_at, text is null as is_removed
      from automation_memories where automation_id = ${automationId} order by name, version desc
    ) as latest where not is_removed order by name
  `.execute(db);
  return rows.map(({ created_at, ...row }) => ({ ...row, updatedAt: created_at }));
}

const readVersions = ({ db, automationId }: MemoriesOptions, name: string, limit: number) =>
  db
    .selectFrom("automation_memories")
    .selectAll()
    .where("automation_id", "=", automationId)
    .where("name", "=", name)
    .orderBy("version", "desc")
    .limit(limit)
    .execute();

/** Writers of one automation wait for each other. */
function append(
  options: MemoriesOptions,
  name: string,
  { text, author }: { text: string | null; author: string },
): Promise<MemoryEntry> {
  const { db, key, automationId } = options;
  return db.transaction().execute(async (tx) => {
    await tx.selectFrom("automations").select("id").where("id", "=", automationId).forUpdate().execute();
    const [former] = await readVersions({ ...options, db: tx }, name, 1);
    const version = (former?.version ?? 0) + 1;
    const bytes = text === null ? 0 : Buffer.byteLength(text);
    const updatedAt = new Date();
    const sealed = text === null ? null : key.seal(text, aadsOf(options)(name, version));
    await tx
      .insertInto("automation_memories")
      .values({ automation_id: automationId, name, version, bytes, text: sealed, author, created_at: updatedAt })
      .execute();
    await tx
      .deleteFrom("automation_memories")
      .where("automation_id", "=", automationId)
      .where("name", "=", name)
      .where("version", "<=", version - maxVersions)
      .execute();
    await trimHistory(tx, automationId);
    return { name, version, bytes, author, updatedAt };
  });
}

async function trimHistory(tx: Queries, automationId: string): Promise<void> {
  await sql`
    delete from automation_memories where automation_id = ${automationId} and (name, version) in (
      select name, version from (
        select name, version, sum(bytes + ${rowBytes}) over (order by created_at desc, name, version desc) as total
        from (
          select *, text is not null and version = max(version) over (partition by name) as is_current
          from automation_memories where automation_id = ${automationId}
        ) as versions where not is_current
      ) as former where total > ${maxHistoryBytes}
    )
  `.execute(tx);
}

function checkMemory(name: string, text: string): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(name))
    throw new ApiError(
      "validation_error",
      "name: must be the name of a file, with letters, digits, dots, dashes and underscores, at most 100.",
    );
  const bytes = Buffer.byteLength(text);
  if (bytes > maxMemoryBytes)
    throw new ApiError("validation_error", `text: has ${bytes} bytes; a memory has at most ${maxMemoryBytes}.`);
  if (text.includes("\0")) throw new ApiError("validation_error", "text: must not contain NUL characters.");
}
