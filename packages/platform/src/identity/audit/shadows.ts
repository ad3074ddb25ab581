// Functions, operators and casts that PostgreSQL takes for its own in the functions that write the audit log: for a call
// with exactly these types, one of another schema goes before one of PostgreSQL for any type.
import { type Kysely, sql } from "kysely";
import { auditCalls, type Tables } from "../../foundation/index.ts";

/** One sentence for each of them, and for a search path that has other schemas before that of PostgreSQL. */
export async function findShadows(db: Kysely<Tables>): Promise<string[]> {
  const { rows } = await sql<{ what: string }>`
    with system as (select 'pg_catalog'::regnamespace::oid as id),
    searched as (
      select oid as id from pg_namespace where nspname = any(current_schemas(false)) and nspname <> 'pg_catalog'
    ),
    -- Types of extensions have functions of usual names, which no call of ours means.
    usual as (
      select oid as id from pg_type
      where typnamespace = (select id from system) or (typtype = 'c' and typnamespace in (select id from searched))
    )
    select 'the function ' || oid::regprocedure as what from pg_proc own
    where pronamespace in (select id from searched)
      and not exists (select from unnest(proargtypes::oid[]) type where type not in (select id from usual))
      and exists (select from pg_proc where pronamespace = (select id from system) and proname = own.proname)
      and not exists (
        select from pg_proc
        where pronamespace = (select id from system) and proname = own.proname and proargtypes = own.proargtypes
      )
    union all
    select 'the function pg_catalog.' || proname from pg_proc
    where pronamespace = (select id from system) and oid >= ${firstOwnOid} and proname = any(${auditCalls})
    union all
    select 'the operator ' || oid::regoperator from pg_operator own
    where (oprnamespace in (select id from searched) or (oprnamespace = (select id from system) and oid >= ${firstOwnOid}))
      and oprname in ('||', '->', '->>', '+', '=', '<>', '@>')
      and (oprleft = 0 or oprleft in (select id from usual)) and oprright in (select id from usual)
    union all
    select format('the cast of %s to %s', castsource::regtype, casttarget::regtype) from pg_cast
    where oid >= ${firstOwnOid} and castsource in (select id from usual) and casttarget in (select id from usual)
    order by 1`.execute(db);
  const isMoved = await hasMovedSearchPath(db);
  return [
    ...rows.map(({ what }) => `${what} takes the place of one of PostgreSQL`),
    ...(isMoved
      ? ["search_path has other schemas before pg_catalog: their functions go before those of PostgreSQL"]
      : []),
  ];
}

/** Lower ones are PostgreSQL's own. */
const firstOwnOid = 16384;

/** Of this session, or of others to come. */
async function hasMovedSearchPath(db: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql<{ setting: string }>`
    select 'search_path=' || current_setting('search_path') as setting
    union all
    select unnest(setconfig) from pg_db_role_setting
    where setdatabase in (0, (select oid from pg_database where datname = current_database()))`.execute(db);
  return rows.some(({ setting }) => /^search_path=.*,\s*"?pg_catalog/.test(setting));
}
