// Sessions, login links, invitations and identities of users elsewhere; users that were removed; keys that were rotated.
import { type Kysely, sql } from "kysely";
import { triggersOf } from "./0003-audit.ts";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(tables).execute(db);
  for (const one of audited) await sql.raw(triggersOf(one)).execute(db);
}

/** Of secrets only their SHA-256 is kept: 32 random bytes need no slow hash. */
const tables = `
  alter table users add column removed_at timestamptz;
  alter table api_keys
    add column last_used_at timestamptz,
    add column successor_id text references api_keys on delete set null;
  create table sessions (
    id text primary key,
    user_id integer not null references users on delete cascade,
    hash bytea not null unique,
    method text not null check (method in ('link', 'oidc', 'invitation')),
    created_at timestamptz not null default now(),
    last_seen_at timestamptz not null default now(),
    expires_at timestamptz not null,
    ended_at timestamptz
  );
  create index sessions_of_users on sessions (user_id);
  create table login_links (
    id text primary key,
    user_id integer not null references users on delete cascade,
    hash bytea not null unique,
    expires_at timestamptz not null,
    used_at timestamptz
  );
  create table invitations (
    id text primary key,
    team_id integer not null references teams on delete cascade,
    email text not null,
    role text not null check (role in ('admin', 'member')),
    hash bytea not null unique,
    expires_at timestamptz not null,
    accepted_at timestamptz,
    revoked_at timestamptz,
    created_at timestamptz not null default now()
  );
  create index invitations_of_teams on invitations (team_id);
  create table identities (
    issuer text not null,
    subject text not null,
    user_id integer not null references users on delete cascade,
    created_at timestamptz not null default now(),
    primary key (issuer, subject)
  );
  create index identities_of_users on identities (user_id);
  drop trigger audit_existence on users;
  drop trigger audit_changes on users;
  drop trigger audit_existence on api_keys;
  drop trigger audit_changes on api_keys;
`;

const audited = [
  { table: "users", name: "user", id: ["id"], columns: ["team_id", "email", "role", "spend_limit_usd", "removed_at"] },
  {
    table: "api_keys",
    name: "api_key",
    id: ["id"],
    columns: [
      ...["team_id", "user_id", "service_account_id", "name", "scopes"],
      ...["expires_at", "revoked_at", "successor_id"],
    ],
  },
  { table: "sessions", name: "session", id: ["id"], columns: ["user_id", "method", "ended_at"] },
  { table: "login_links", name: "login_link", id: ["id"], columns: ["user_id", "used_at"] },
  {
    table: "invitations",
    name: "invitation",
    id: ["id"],
    columns: ["team_id", "email", "role", "expires_at", "accepted_at", "revoked_at"],
  },
  { table: "identities", name: "identity", id: ["issuer", "subject"], columns: ["user_id"] },
];
