// Whether the database still writes the audit log: every trigger that does is there, switched on, does what it did, and
// nothing else comes between a change and its entry.
import { type Kysely, sql, type Transaction } from "kysely";
import { auditFunctions, auditTables, auditTriggers, type Tables } from "../../foundation/index.ts";
import { findShadows } from "./shadows.ts";

/** One sentence for each part of which changes are not recorded, or not as they were. Changes settings of the transaction. */
export async function findUnrecorded(db: Transaction<Tables>): Promise<string[]> {
  return [
    ...(await findHiddenTables(db)),
    ...(await findChangedTriggers(db)),
    ...(await findChangedFunctions(db)),
    ...(await findSettings(db)),
    ...(await findLoginTriggers(db)),
    ...(await findShadows(db)),
  ];
}

/** A view, a rule, a policy or a table that inherits shows or changes other rows than the triggers see. */
async function findHiddenTables(db: Kysely<Tables>): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = current_schema()::regnamespace
      and relkind = 'r' and not relhasrules and not relrowsecurity
      and not exists (select from pg_inherits where pg_class.oid in (inhparent, inhrelid))`.execute(db);
  const plain = new Set(rows.map(({ name }) => name));
  return auditTables
    .filter((table) => !plain.has(table))
    .map((table) => `${table} is not a plain table: what readers see may be other rows`);
}

interface Trigger {
  table: string;
  name: string;
  /** As PostgreSQL stores it: O and A fire in usual sessions. */
  enabled: string;
  definition: string;
  /** Its function is of this schema. */
  isOwn: boolean;
}

async function findChangedTriggers(db: Kysely<Tables>): Promise<string[]> {
  const { rows } = await sql<Trigger>`
    select c.relname as table, t.tgname as name, t.tgenabled as enabled, pg_get_triggerdef(t.oid, true) as definition,
      p.pronamespace = c.relnamespace as "isOwn"
    from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_proc p on p.oid = t.tgfoid
    where not t.tgisinternal and c.relnamespace = current_schema()::regnamespace`.execute(db);
  const keyOf = ({ table, name }: { table: string; name: string }) => `${table} ${name}`;
  const found = new Map(rows.map((row) => [keyOf(row), row]));
  const known = new Set(auditTriggers.map(keyOf));
  return [
    ...auditTriggers.flatMap(({ table, name, definition }) => {
      const fault = faultOf(found.get(`${table} ${name}`), definition);
      return fault === null ? [] : [`${name} of ${table} ${fault}`];
    }),
    ...rows
      .filter((row) => auditTables.includes(row.table) && !known.has(keyOf(row)))
      .map(({ table }) => `${table} has a trigger that is not one of this version`),
  ];
}

function faultOf(trigger: Trigger | undefined, definition: string | null): string | null {
  if (trigger === undefined) return "is missing";
  if (trigger.enabled !== "O" && trigger.enabled !== "A") return "is switched off";
  // One that writes nothing to the log may keep nothing from it either.
  const isAsMade = definition === null ? / AFTER /.test(trigger.definition) : trigger.definition === definition;
  return trigger.isOwn && isAsMade ? null : "was replaced";
}

/** Exactly one of each name: a second one could be called in its place. Settings of a function change what its words mean. */
async function findChangedFunctions(db: Kysely<Tables>): Promise<string[]> {
  const { rows } = await sql<{ name: string; digest: string; isPlain: boolean }>`
    select proname as name, encode(sha256(convert_to(prosrc, 'UTF8')), 'hex') as digest,
      proconfig is null and not prosecdef and lanname in ('plpgsql', 'sql') as "isPlain"
    from pg_proc join pg_language on pg_language.oid = prolang
    where pronamespace = current_schema()::regnamespace`.execute(db);
  return auditFunctions
    .filter(({ name, digest }) => {
      const named = rows.filter((row) => row.name === name);
      return named.length !== 1 || !named.every((row) => row.digest === digest && row.isPlain);
    })
    .map(({ name }) => `the function ${name} is missing or was replaced`);
}

/** Those of this session, and those that sessions of the database or of a role begin with, wherever they are set. */
async function findSettings(db: Transaction<Tables>): Promise<string[]> {
  await sql`set local platform.actor to default`.execute(db);
  const { rows } = await sql<{ setting: string }>`
    select 'session_replication_role=' || current_setting('session_replication_role') as setting
    union all
    select 'platform.actor=' || nullif(current_setting('platform.actor', true), '')
    union all
    select unnest(setconfig) from pg_db_role_setting
    where setdatabase in (0, (select oid from pg_database where datname = current_database()))`.execute(db);
  const names = new Set(rows.map(({ setting }) => setting ?? ""));
  return [
    ...(names.has("session_replication_role=replica")
      ? ["session_replication_role is replica, which switches all triggers off"]
      : []),
    ...([...names].some((setting) => setting.startsWith("platform.actor="))
      ? ["platform.actor is set for a role, the database or the server: entries name another actor"]
      : []),
  ];
}

/** What runs at each login (PostgreSQL 17) can switch triggers off for that session, and for none that looks. */
async function findLoginTriggers(db: Kysely<Tables>): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select evtname as name from pg_event_trigger where evtevent = 'login' order by 1`.execute(db);
  return rows.map(({ name }) => `the event trigger ${name} runs at each login, and may switch triggers off`);
}
