// The audit log goes on being written and proved: what switches that off is noticed, and what holds it up is named.
import { EventEmitter, once } from "node:events";
import { temporaryDirectory } from "@agentcli/testkit";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { auditTriggers, recordAuditEvent } from "../../src/foundation/db/index.ts";
import { migrate } from "../../src/foundation/db/migrate.ts";
import { silentLog } from "../../src/foundation/telemetry/index.ts";
import {
  findUnexplained,
  keepAnchor,
  readAnchor,
  readUnlocked,
  verifyLog,
  withStoredLog,
} from "../../src/identity/audit/index.ts";
import { openAdministration } from "../../src/identity/principals/index.ts";
import { command } from "../harness/command.ts";
import { emptyDatabase } from "../harness/database.ts";
import { type AgentFixture, openFixture } from "../harness/fixture.ts";
import { type TestServer, testServer } from "../harness/platform.ts";
import { testSettings } from "../harness/settings.ts";

let fixture: AgentFixture;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture.close());

test("every trigger of a table whose changes are recorded is known, also those of new tables", async () => {
  const { rows } = await sql<{ entry: string }>`
    select c.relname || ' ' || t.tgname as entry from pg_trigger t join pg_class c on c.oid = t.tgrelid
    where not t.tgisinternal and c.oid in (
      select tgrelid from pg_trigger join pg_proc p on p.oid = tgfoid where proname in ('audit_change', 'audit_refuse')
    )`.execute(fixture.platform.db);
  const known = auditTriggers.map(({ table, name }) => `${table} ${name}`);
  expect(known.sort()).toEqual(rows.map(({ entry }) => entry).sort());
});

describe("audit verify says what is not recorded", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await testServer({ roles: ["api"] });
    await server.key();
  });
  afterAll(() => server.close());

  test("nothing, at first", async () => {
    expect(await command(server, "audit", "verify")).toMatch(/^whole: /);
  });

  // One after the other: what is switched off stays so.
  test.each([
    [
      "a trigger with another function",
      `create function do_nothing() returns trigger language plpgsql as $$ begin return null; end $$;
       drop trigger audit_changes on teams;
       create constraint trigger audit_changes after update on teams
         deferrable initially deferred for each row execute function do_nothing()`,
      "audit_changes of teams was replaced",
    ],
    [
      "a trigger that records fewer columns",
      `drop trigger audit_existence on invitations;
       create constraint trigger audit_existence after insert or delete on invitations
         deferrable initially deferred for each row execute function audit_change('invitation', 'id', 'team_id')`,
      "audit_existence of invitations was replaced",
    ],
    [
      "a trigger that never fires",
      `drop trigger audit_changes on service_accounts;
       create constraint trigger audit_changes after update on service_accounts deferrable initially deferred
         for each row when (false) execute function audit_change('service_account', 'id', 'team_id name')`,
      "audit_changes of service_accounts was replaced",
    ],
    [
      "a trigger in front of the entries",
      `create function skip() returns trigger language plpgsql as $$ begin return null; end $$;
       create trigger aside before insert on audit_entries for each row execute function skip()`,
      "audit_entries has a trigger that is not one of this version",
    ],
    [
      "a trigger in front of a change",
      `create function same() returns trigger language plpgsql as $$ begin return old; end $$;
       create trigger aside before update on runs for each row execute function same()`,
      "runs has a trigger that is not one of this version",
    ],
    [
      "a rule in place of a change",
      "create rule aside as on update to webhooks do instead nothing",
      "webhooks is not a plain table",
    ],
    [
      "rows of another table",
      "create table more_identities () inherits (identities)",
      "identities is not a plain table",
    ],
    [
      "a function that names another actor",
      "alter function audit_append(text, text, jsonb) set platform.actor = 'user:1'",
      "the function audit_append is missing or was replaced",
    ],
    [
      "a function that finds other functions",
      "create schema elsewhere; alter function audit_columns(text) set search_path = elsewhere, public",
      "the function audit_columns is missing or was replaced",
    ],
    [
      "a second function of the same name",
      `create function audit_refuse(reason text) returns void language plpgsql as $$
  begin
    raise exception 'The audit log is only added to.';
  end $$`,
      "the function audit_refuse is missing or was replaced",
    ],
    [
      "an actor for every new session",
      `do $$ begin execute format('alter database %I set platform.actor = %L', current_database(), 'user:1'); end $$`,
      "platform.actor is set for a role, the database or the server",
    ],
    [
      "an aggregate that goes before one of PostgreSQL and forgets what changed",
      `create function forget(jsonb, text, jsonb) returns jsonb language sql immutable as $$ select '{}'::jsonb $$;
       create aggregate jsonb_object_agg(text, jsonb) (sfunc = forget, stype = jsonb, initcond = '{}')`,
      "the function jsonb_object_agg(text,jsonb) takes the place of one of PostgreSQL",
    ],
    [
      "a function of a row that goes before one of PostgreSQL",
      "create function to_jsonb(teams) returns jsonb language sql as $$ select '{}'::jsonb $$",
      "the function to_jsonb(teams) takes the place of one of PostgreSQL",
    ],
    [
      "an operator that goes before one of PostgreSQL",
      `create function same_always(jsonb, text) returns jsonb language sql as $$ select null::jsonb $$;
       create operator + (leftarg = jsonb, rightarg = text, function = same_always)`,
      "the operator +(jsonb,text) takes the place of one of PostgreSQL",
    ],
    [
      "a cast of entries to texts",
      `create function other_text(jsonb) returns text language sql as $$ select '{}' $$;
       create cast (jsonb as text) with function other_text(jsonb)`,
      "the cast of jsonb to text takes the place of one of PostgreSQL",
    ],
    [
      "what runs at each login",
      `create function at_login() returns event_trigger language plpgsql as $$ begin end $$;
       create event trigger at_login on login execute function at_login()`,
      "the event trigger at_login runs at each login",
    ],
    [
      "a function of PostgreSQL itself",
      `set local allow_system_table_mods = on;
       create function pg_catalog.format(text, text, text) returns text language sql as $$ select null::text $$`,
      "the function pg_catalog.format takes the place of one of PostgreSQL",
    ],
    [
      "a path with PostgreSQL at its end",
      `do $$ begin execute format('alter database %I set search_path = public, pg_catalog', current_database()); end $$`,
      "search_path has other schemas before pg_catalog",
    ],
    [
      "a trigger that is switched off",
      "alter table users disable trigger audit_changes",
      "audit_changes of users is switched off",
    ],
    [
      "the protection of entries",
      "alter table audit_entries disable trigger only_added_to",
      "only_added_to of audit_entries is switched off",
    ],
    [
      "all triggers of a table",
      "alter table api_keys disable trigger user",
      "audit_existence of api_keys is switched off",
    ],
    [
      "a trigger for replicas alone",
      "alter table secrets enable replica trigger audit_existence",
      "audit_existence of secrets is switched off",
    ],
    ["a trigger that is removed", "drop trigger audit_existence on sessions", "audit_existence of sessions is missing"],
    [
      "a view in place of the entries",
      "alter table audit_entries rename to hidden; create view audit_entries as select * from hidden",
      "audit_entries is not a plain table",
    ],
    ["policies for the head", "alter table audit_head enable row level security", "audit_head is not a plain table"],
    [
      "a function that does nothing",
      "create or replace function audit_change() returns trigger language plpgsql as $$ begin return null; end $$",
      "the function audit_change is missing or was replaced",
    ],
  ])("%s", async (_, change, reason) => {
    await sql.raw(change).execute(server.platform.db);
    const printed = await command(server, "audit", "verify");
    expect(printed).toContain(`NOT RECORDED: ${reason}`);
    expect(printed).not.toContain("whole: ");
  });
});

describe("a session that switches triggers off for itself alone", () => {
  test.each([
    [
      "creates a key",
      `insert into api_keys select (jsonb_populate_record(row, '{"id": "backdoor"}')).* from api_keys row limit 1`,
      "api_keys has rows that no entry explains: backdoor",
    ],
    ["gives a key more rights", "update api_keys set scopes = array_append(scopes, 'more')", "api_keys has rows"],
    ["knows the secret of a key", "update api_keys set hash = sha256('mine')", "api_keys has rows"],
    ["knows the cookie of a session", "update sessions set hash = sha256('mine')", "sessions has rows"],
    ["makes a member an administrator", "update users set role = 'admin'", "users has rows"],
    ["gives a revoked key back", "update api_keys set revoked_at = null", "api_keys has rows"],
    ["makes a key last", "update api_keys set expires_at = now() + interval '9 years'", "api_keys has rows"],
    [
      "logs in as another user elsewhere",
      "insert into identities (issuer, subject, user_id) select 'https://id.example', 'mine', min(id) from users",
      "identities has rows that no entry explains: https://id.example:mine",
    ],
    [
      "gives a user another address",
      "update users set email = 'eve@example.com' where role = 'admin'",
      "users has rows",
    ],
    [
      "brings back what was deleted",
      "insert into login_links select 'gone', min(id), sha256('x'), now() + interval '1 day' from users",
      "login_links has rows that no entry explains: gone",
    ],
    ["brings back who was removed", "update users set removed_at = null", "users has rows"],
  ])("%s: audit verify names what no entry explains", async (_, change, reason) => {
    const server = await testServer({ roles: ["api"] });
    onTestFinished(() => server.close());
    await server.key();
    const { db, principals, vault } = server.platform;
    const administration = openAdministration(db, vault);
    for (const email of ["ada@example.com", "bob@example.com"])
      await administration.createUser({ team: "default", email, role: "member" });
    await principals.createKey({
      ...{ name: "gone", team: "default", owner: { kind: "user", email: "bob@example.com" } },
      ...{ scopes: ["agents:read"], expiresAt: null },
    });
    await server.platform.sessions.begin((await administration.findUser({ email: "ada@example.com" })).id, "link");
    await administration.removeUser({ email: "bob@example.com" });
    await sql.raw("insert into login_links select 'gone', min(id), sha256('x'), now() from users").execute(db);
    await sql.raw("delete from login_links").execute(db);
    expect(await command(server, "audit", "verify")).toMatch(/^whole: /);
    await db.transaction().execute(async (transaction) => {
      await sql.raw("set local session_replication_role = replica").execute(transaction);
      await sql.raw(change).execute(transaction);
    });
    expect(await command(server, "audit", "verify")).toContain(`NOT RECORDED: ${reason}`);
  });
});

describe("a session that switches triggers off for itself alone permits more", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await testServer({ roles: ["api"] });
    const key = await server.key();
    const eve = { team: "default", email: "eve@example.com", role: "member" } as const;
    await openAdministration(server.platform.db, server.platform.vault).createUser(eve);
    const repos = [{ url: "https://github.com/acme/app" }];
    const answers = [
      await server.call(key, "PATCH", "/v1/team/settings", {
        egress: { mode: "allowlist_only", allowlist: ["example.com"], locked: true },
      }),
      await server.call(key, "PATCH", "/v1/me/settings", { egress: { mode: "allow_all", allowlist: [] } }),
      await server.call(key, "PUT", "/v1/team/secrets/TEAM", { value: "of the team", repos: [repos[0]?.url] }),
      await server.call(key, "POST", "/v1/agents", { prompt: { text: "say hello" } }),
      await server.call(key, "POST", "/v1/environments", { owner: "team", name: "ci", repos, environmentJson: "{}" }),
      await server.call(key, "POST", "/v1/automations", {
        ...{ name: "own", scope: "private", prompt: { text: "Look." }, triggers: [{ type: "webhook" }] },
      }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 201, 200, 201, 201]);
    expect(await command(server, "audit", "verify")).toMatch(/^whole: /);
  });
  afterAll(() => server.close());

  test.each([
    [
      "the network of a team",
      `update team_settings set settings = '{"egress": {"mode": "allow_all"}}'`,
      "team_settings",
    ],
    ["without the settings of a team", "delete from team_settings", "team_settings"],
    ["the network of a user", "update user_settings set settings = '{}'", "user_settings"],
    ["follow-ups of the whole team", "update teams set follow_ups = 'all'", "teams"],
    ["a team to spend more", "update teams set spend_limit_usd = 1000000", "teams"],
    ["a user to spend more", "update users set spend_limit_usd = 1000000", "users"],
    ["a run to act as another user", "update runs set user_id = (select max(id) from users)", "runs"],
    ["a secret for all repositories", "update secrets set repos = '[]'", "secrets"],
    ["a secret for builds", "update secrets set phase = 'both'", "secrets"],
    ["an automation that was switched off", "update automations set enabled = not enabled", "automations"],
    ["another version of an environment", "update environments set version_id = gen_random_uuid()", "environments"],
  ])("%s: audit verify names the rows", async (_, change, table) => {
    const undone = new Error("undone");
    const attempt = server.platform.db.transaction().execute(async (transaction) => {
      await sql.raw("set local session_replication_role = replica").execute(transaction);
      await sql.raw(change).execute(transaction);
      expect(await findUnexplained(transaction)).toEqual([
        expect.stringContaining(`${table} has rows that no entry explains: `),
      ]);
      throw undone;
    });
    await expect(attempt).rejects.toBe(undone);
  });
});

describe("a session that switches triggers off for itself alone gives another user", () => {
  const other = "(select id from users where email = 'eve@example.com')";
  test.each([
    ["an agent", `update agents set user_id = ${other}`, "agents has rows that no entry explains: bc-"],
    [
      "an agent of a team",
      "update agents set user_id = null, service_account_id = gen_random_uuid()",
      "agents has rows",
    ],
    ["an automation", `update automations set user_id = ${other}`, "automations has rows"],
    ["an environment", `update environments set user_id = ${other}`, "environments has rows"],
    ["a secret", `update secrets set user_id = ${other}`, "secrets has rows"],
    [
      "an account of a source host",
      `update source_accounts set user_id = ${other}`,
      "source_accounts has rows that no entry explains: ",
    ],
  ])("%s: audit verify names it", async (_, change, reason) => {
    const server = await testServer({ roles: ["api"] });
    onTestFinished(() => server.close());
    const key = await server.key();
    const { db, vault } = server.platform;
    const eve = { team: "default", email: "eve@example.com", role: "member" } as const;
    await openAdministration(db, vault).createUser(eve);
    const repos = [{ url: "https://github.com/acme/app" }];
    const answers = [
      await server.call(key, "POST", "/v1/agents", { prompt: { text: "say hello" } }),
      await server.call(key, "PUT", "/v1/me/secrets/OWN", { value: "of the user" }),
      await server.call(key, "POST", "/v1/environments", {
        owner: "personal",
        name: "ci",
        repos,
        environmentJson: "{}",
      }),
      await server.call(key, "POST", "/v1/automations", {
        ...{ name: "own", scope: "private", prompt: { text: "Look." }, triggers: [{ type: "webhook" }] },
      }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 201, 201, 201]);
    await sql
      .raw(
        "insert into source_accounts (user_id, host, account_id, login) select min(id), 'github.com', '1', 'ada' from users",
      )
      .execute(db);
    expect(await command(server, "audit", "verify")).toMatch(/^whole: /);
    await db.transaction().execute(async (transaction) => {
      await sql.raw("set local session_replication_role = replica").execute(transaction);
      await sql.raw(change).execute(transaction);
    });
    expect(await command(server, "audit", "verify")).toContain(`NOT RECORDED: ${reason}`);
  });
});

test("rows of a former version, whose hashes were not recorded, are explained", async () => {
  const { db, connection, close } = await emptyDatabase();
  onTestFinished(close);
  await migrate(db, connection, "0060-bound-secrets");
  await sql
    .raw(`
      insert into teams (name, data_key) values ('default', '');
      insert into users (team_id, email, role) values (1, 'ada@example.com', 'admin');
      insert into api_keys (id, hash, name, team_id, user_id, scopes) values ('former', sha256('x'), 'x', 1, 1, '{}');
      insert into sessions (id, user_id, hash, method, expires_at) values ('former', 1, sha256('y'), 'link', now());
    `)
    .execute(db);
  await migrate(db, connection);
  expect(await findUnexplained(db)).toEqual([]);
  expect(await withStoredLog(db, (log) => verifyLog(log, []))).toMatchObject({ kind: "whole" });
});

test("a platform that has recorded nothing is not called whole", async () => {
  const [{ url, close }, directory] = await Promise.all([emptyDatabase(), temporaryDirectory()]);
  onTestFinished(async () => {
    await close();
    await directory.remove();
  });
  const settings = { ...testSettings(directory.path), databaseUrl: url };
  const printed = await command({ platform: { settings } } as never, "audit", "verify");
  expect(printed).toMatch(/^UNPROVED: the log is empty/);
});

test("an actor that the server of the database gives every session is named", async () => {
  const given = fixture.databaseUrl;
  const options = `${given.includes("?") ? "&" : "?"}options=${encodeURIComponent("-c platform.actor=user:1")}`;
  const settings = { ...fixture.platform.settings, databaseUrl: `${given}${options}` };
  const printed = await command({ platform: { settings } } as never, "audit", "verify");
  expect(printed).toContain("NOT RECORDED: platform.actor is set for a role, the database or the server");
});

test("a session of the database that locks the log is named by audit verify and by a server", async () => {
  const { db } = fixture.platform;
  const reported: string[] = [];
  const log = { ...silentLog, error: (name: string, error: unknown) => void reported.push(`${name}: ${error}`) };
  await db.transaction().execute(async (transaction) => {
    await sql`lock table audit_head in access exclusive mode`.execute(transaction);
    const read = readUnlocked(db, (tx) => tx.selectFrom("audit_head").selectAll().execute(), 50);
    await expect(read).rejects.toThrow(/cannot be read: a session of the database has held a lock for 0.05 s/);
    const activity = await keepAnchor({ ...fixture.platform, log, lockLimitMs: 50 } as never);
    expect(reported.join()).toMatch(/audit\.anchor_failed: .*has held a lock for 0\.05 s/);
    await activity.stop();
  });
});

describe("a session of the database that holds the lock of the anchor", () => {
  test("is named, and the anchor goes on once it ends", async () => {
    const { db, vault, settings } = fixture.platform;
    const seq = async () => {
      const anchor = await readAnchor(settings.dataDirectory, vault);
      return anchor.kind === "kept" ? anchor.head.seq : anchor.kind;
    };
    const reported: string[] = [];
    const log = { ...silentLog, error: (name: string, error: unknown) => void reported.push(`${name}: ${error}`) };
    const events = new EventEmitter();
    const [locked, released] = [once(events, "locked"), once(events, "released")];
    const holding = db.transaction().execute(async (transaction) => {
      await sql`select pg_advisory_xact_lock(74200003)`.execute(transaction);
      events.emit("locked");
      await released;
    });
    await locked;
    const activity = await keepAnchor({ ...fixture.platform, log, lockLimitMs: 50 } as never);
    onTestFinished(() => activity.stop());
    expect(reported.join()).toMatch(/audit\.anchor_failed: .*\(advisory lock 74200003\): .*has held a lock for/);
    await recordAuditEvent(db, { action: "test.happened", subject: "later", data: {} });
    const before = reported.length;
    await expect.poll(() => reported.length).toBeGreaterThan(before);
    events.emit("released");
    await holding;
    // Other tests of this file may still record entries.
    const isCurrent = async () => {
      const anchored = await seq();
      const { seq: last } = await db.selectFrom("audit_head").select("seq").executeTakeFirstOrThrow();
      return anchored === Number(last);
    };
    await expect.poll(isCurrent).toBe(true);
  });
});
