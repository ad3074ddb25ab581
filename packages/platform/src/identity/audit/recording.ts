// Whether the database still writes the audit log: every trigger that does is there, switched on, and does what it did.
import { type Kysely, sql } from "kysely";
import { auditFunctions, auditTriggers, type Tables } from "../../foundation/index.ts";

interface Trigger {
  table: string;
  name: string;
  /** As PostgreSQL stores it: O and A fire in usual sessions. */
  enabled: string;
}

/** One sentence for each part of which changes are not recorded. */
export async function findUnrecorded(db: Kysely<Tables>): Promise<string[]> {
  const { rows: triggers } = await sql<Trigger>`
    select c.relname as table, t.tgname as name, t.tgenabled as enabled
    from pg_trigger t join pg_class c on c.oid = t.tgrelid
    where not t.tgisinternal and c.relnamespace = current_schema()::regnamespace`.execute(db);
  const { rows: functions } = await sql<{ name: string; body: string }>`
    select proname as name, prosrc as body from pg_proc where pronamespace = current_schema()::regnamespace`.execute(
    db,
  );
  const { rows: roles } = await sql<{ session_replication_role: string }>`show session_replication_role`.execute(db);
  const { rows: relations } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = current_schema()::regnamespace and relname in ('audit_entries', 'audit_head')
      and relkind = 'r' and not relhasrules and not relrowsecurity and not relhassubclass`.execute(db);
  const found = new Map(triggers.map((each) => [`${each.table} ${each.name}`, each.enabled]));
  const bodies = new Map(functions.map(({ name, body }) => [name, body]));
  return [
    ...["audit_entries", "audit_head"]
      .filter((table) => !relations.some(({ name }) => name === table))
      .map((table) => `${table} is not a plain table: what readers see may be other entries`),
    ...auditTriggers.flatMap(({ table, name }) => {
      const enabled = found.get(`${table} ${name}`);
      if (enabled === "O" || enabled === "A") return [];
      return [`${name} of ${table} is ${enabled === undefined ? "missing" : "switched off"}`];
    }),
    ...auditFunctions
      .filter(({ name, body }) => bodies.get(name) !== body)
      .map(({ name }) => `the function ${name} is missing or was replaced`),
    ...roles
      .filter(({ session_replication_role: role }) => role === "replica")
      .map(() => "session_replication_role is replica, which switches all triggers off"),
  ];
}
