// The audit log: an entry for every change of what people own or may do, written by the database itself in the transaction
// of the change. Each entry is hashed together with the hash before it; the head says where the chain ends.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(tables).execute(db);
  await sql.raw(functions).execute(db);
  for (const one of audited) await sql.raw(triggersOf(one)).execute(db);
}

const tables = `
  create table audit_entries (
    seq bigint primary key,
    entry text not null,
    hash bytea not null
  );
  create table audit_head (
    is_only boolean primary key default true check (is_only),
    seq bigint not null,
    hash bytea not null
  );
  insert into audit_head (seq, hash) values (0, sha256('platform audit log'));
`;

/**
 * audit_change gets from its trigger the name of the subject, the columns of its id, and the columns to record.
 * Only those are looked at: others are sealed, or as large as an image.
 */
export const functions = `
  create function audit_append(action text, subject text, data jsonb) returns void language plpgsql as $$
  declare
    head audit_head;
    entry text;
  begin
    select * into strict head from audit_head for update;
    head.seq := head.seq + 1;
    entry := jsonb_build_object(
      'seq', head.seq,
      'at', to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'actor', coalesce(nullif(current_setting('platform.actor', true), ''), 'platform'),
      'action', action,
      'subject', subject,
      'data', data
    )::text;
    head.hash := sha256(head.hash || convert_to(entry, 'UTF8'));
    insert into audit_entries values (head.seq, entry, head.hash);
    update audit_head set seq = head.seq, hash = head.hash;
    perform pg_notify('audit', '');
  end $$;

  create function audit_columns(names text) returns text language sql immutable as $$
    select 'select jsonb_build_object(' || string_agg(format('%L, ($1).%I', name, name), ', ') || ')'
    from unnest(string_to_array(names, ' ')) as name
  $$;

  create function audit_change() returns trigger language plpgsql as $$
  declare
    id jsonb;
    before jsonb := '{}';
    after jsonb := '{}';
    verb text := case tg_op when 'INSERT' then 'created' when 'UPDATE' then 'changed' else 'deleted' end;
  begin
    if tg_op <> 'INSERT' then
      execute audit_columns(tg_argv[1]) into id using old;
      execute audit_columns(tg_argv[2]) into before using old;
    end if;
    if tg_op <> 'DELETE' then
      execute audit_columns(tg_argv[1]) into id using new;
      execute audit_columns(tg_argv[2]) into after using new;
    end if;
    perform audit_append(
      tg_argv[0] || '.' || verb,
      (select string_agg(id ->> name, ':') from unnest(string_to_array(tg_argv[1], ' ')) as name),
      case tg_op when 'DELETE' then before else (
        select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(after)
        where value is distinct from before -> key
      ) end
    );
    return null;
  end $$;

  create function audit_refuse() returns trigger language plpgsql as $$
  begin
    raise exception 'The audit log is only added to.';
  end $$;
  create trigger only_added_to before update or delete or truncate on audit_entries
    execute function audit_refuse();
`;

interface Audited {
  table: string;
  /** What a row is, as actions name it. */
  name: string;
  id: string[];
  columns: string[];
}

const owners = ["team_id", "user_id", "service_account_id"];

const audited: Audited[] = [
  { table: "key_encryption_keys", name: "key_encryption_key", id: ["fingerprint"], columns: ["fingerprint"] },
  { table: "teams", name: "team", id: ["id"], columns: ["name", "spend_limit_usd"] },
  { table: "users", name: "user", id: ["id"], columns: ["team_id", "email", "role", "spend_limit_usd"] },
  { table: "service_accounts", name: "service_account", id: ["id"], columns: ["team_id", "name"] },
  {
    table: "api_keys",
    name: "api_key",
    id: ["id"],
    columns: [...owners, "name", "scopes", "expires_at", "revoked_at"],
  },
  { table: "agents", name: "agent", id: ["id"], columns: [...owners, "source", "archived_at"] },
  {
    table: "runs",
    name: "run",
    id: ["id"],
    columns: ["agent_id", ...owners, "number", "status", "error_code", "cancel_requested_at"],
  },
  { table: "webhooks", name: "webhook", id: ["agent_id"], columns: ["version"] },
  { table: "handoffs", name: "handoff", id: ["agent_id", "repo_url"], columns: ["branch", "pushed_commit", "pr_url"] },
  { table: "hosted_repositories", name: "repository", id: ["id"], columns: ["team_id", "name", "default_branch"] },
  {
    table: "pull_requests",
    name: "pull_request",
    id: ["repository_id", "number"],
    columns: ["head_branch", "base_branch", "state", "draft", "author"],
  },
  { table: "pull_request_comments", name: "comment", id: ["repository_id", "pull_request", "id"], columns: ["author"] },
  {
    table: "pull_request_reviews",
    name: "review",
    id: ["repository_id", "pull_request", "id"],
    columns: ["author", "verdict"],
  },
];

/** At the end of the transaction: transactions wait for each other only there, and never in a cycle. */
export function triggersOf({ table, name, id, columns }: Audited): string {
  const call = `audit_change('${name}', '${id.join(" ")}', '${columns.join(" ")}')`;
  const of = (row: string) => `(${columns.map((column) => `${row}.${column}`).join(", ")})`;
  return `
    create constraint trigger audit_existence after insert or delete on ${table}
      deferrable initially deferred for each row execute function ${call};
    create constraint trigger audit_changes after update on ${table}
      deferrable initially deferred for each row
      when (${of("old")} is distinct from ${of("new")}) execute function ${call};
  `;
}
