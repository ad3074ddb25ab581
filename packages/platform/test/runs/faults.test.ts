import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, replyWith, stall, temporaryDirectory } from "@agentcli/testkit";
import type { ApiResponse } from "@agentcli/testkit/platform";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { openQueries } from "../../src/foundation/db/connect.ts";
import { openLog } from "../../src/foundation/telemetry/index.ts";
import type { AgentFixture } from "../harness/fixture.ts";
import { openRunHarness } from "./run-harness.ts";

test("a run survives repeated loss of its database connections, and nothing is written twice", async () => {
  const steps = 12;
  const shells = Array.from({ length: steps }, (_, step) =>
    call("exec_command", { cmd: `echo step ${step} >> steps.txt` }),
  );
  const { client, fixture, requests, records } = await openRunHarness({
    replies: [
      ...shells,
      call("exec_command", { cmd: "cat steps.txt" }),
      replyWith("Through.", { deltas: 20, deltaDelayMs: 5 }),
    ],
  });
  const ids = await client.create({ prompt: { text: "go" } });
  const cuts: Promise<unknown>[] = [];
  const maxCuts = 100;
  const breaking = setInterval(() => {
    // Not without end: on a busy machine no statement would have the time to finish.
    if (cuts.length === maxCuts) return clearInterval(breaking);
    const cut = sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and query not like '%listen%'
    `.execute(fixture.platform.db);
    cuts.push(cut.catch(() => {}));
  }, 40);
  await expect
    .poll(() =>
      client.read(ids).then(
        ({ status }) => status,
        () => "unknown",
      ),
    )
    .toBe("FINISHED");
  clearInterval(breaking);
  await Promise.all(cuts);
  // A closed connection is noticed only at its next use.
  await expect.poll(() => client.stream(ids).then(() => "read", String)).toBe("read");
  const frames = await client.stream(ids);
  expect(frames.at(-2)?.data).toMatchObject({ status: "FINISHED", text: "Through." });
  const output = Array.from({ length: steps }, (_, step) => `step ${step}\\n`).join("");
  expect(JSON.stringify(frames)).toContain(output);
  const settled = (await records(ids.agentId)).filter(({ type }) => type === "tool.settled");
  expect(settled).toHaveLength(steps + 1);
  expect(requests()).toHaveLength(steps + 2);
});

test("without a working sandbox a run fails with instructions before any model call, and the next run works once fixed", async () => {
  const programs = await temporaryDirectory();
  onTestFinished(programs.remove);
  const broken = join(programs.path, "bwrap");
  writeFileSync(broken, "#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n", {
    mode: 0o755,
  });
  const variables = { PATH: `${programs.path}:${process.env.PATH}` };
  const { client, requests } = await openRunHarness({ replies: [replyWith("Done.")], settings: { variables } });
  const ids = await client.create({ prompt: { text: "go" } });
  await expect
    .poll(() => client.read(ids))
    .toMatchObject({
      status: "ERROR",
      error: {
        code: "sandbox",
        message: expect.stringMatching(/bubblewrap does not work here.*Allow user namespaces/),
      },
    });
  expect(requests()).toEqual([]);
  rmSync(broken);
  const next = await client.create({ prompt: { text: "go" } });
  await expect.poll(() => client.read(next)).toMatchObject({ status: "FINISHED", result: "Done." });
});

test("the stream of a run that cannot be opened ends with an error", async () => {
  const { client, fixture } = await openRunHarness({ replies: [] });
  const { db } = fixture.platform;
  await sql`
    create function spoil() returns trigger language plpgsql as $$ begin new.request := 'spoilt'; return new; end $$;
    create trigger spoilt before insert on runs for each row execute function spoil();
  `.execute(db);
  const ids = await client.create({ prompt: { text: "go" } });
  const frames = await client.stream(ids);
  expect(frames.at(-1)).toMatchObject({ event: "error", data: { code: "internal" } });
  expect(new Set(frames.slice(0, -1).map(({ event }) => event))).toEqual(new Set(["status"]));
  expect((await client.read(ids)).status).toBe("ERROR");
});

test("an agent that is deleted while its run starts leaves no error in the log", async () => {
  const lines: string[] = [];
  const log = openLog({ write: (line) => lines.push(line), now: () => new Date() });
  const { client, fixture, stop } = await openRunHarness({ replies: [replyWith("Done.")] }, log);
  const { db, connection } = fixture.platform;
  await sql`
    create function wait() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock(7); return new; end $$;
    create trigger waiting before insert on agent_secrets for each row execute function wait();
  `.execute(db);
  const holder = openQueries(connection, 1, () => {});
  onTestFinished(() => holder.destroy());
  await sql`select pg_advisory_lock(7)`.execute(holder);
  const { agentId } = await client.create({ prompt: { text: "go" } });
  const waiters = sql`
    select from pg_locks join pg_database on pg_database.oid = database
    where datname = current_database() and locktype = 'advisory' and not granted
  `;
  await expect.poll(async () => (await waiters.execute(db)).rows.length).toBe(1);
  expect((await client.send("DELETE", `/v1/agents/${agentId}`)).status).toBe(200);
  await sql`select pg_advisory_unlock(7)`.execute(holder);
  await stop();
  expect(lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
});

/** Closes all other connections of this database; their users notice at the next use. */
const cutConnections = (db: AgentFixture["platform"]["db"]) =>
  sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and query not like '%listen%'
  `.execute(db);

test("a request on a connection that was just closed is answered, or refused as retryable", async () => {
  const { client, fixture } = await openRunHarness({ replies: [], settings: { roles: ["api"] } });
  const cutter = openQueries(fixture.platform.connection, 1, () => {});
  onTestFinished(() => cutter.destroy());
  const ids = await client.create({ prompt: { text: "go" } });
  const paths = ["/v1/me", "/v1/agents", `/v1/agents/${ids.agentId}`, `/v1/agents/${ids.agentId}/runs/${ids.runId}`];
  const answers: ApiResponse[] = [];
  for (let round = 0; round < 25; round++) {
    await Promise.all(paths.map((path) => client.send("GET", path)));
    const [, ...asked] = await Promise.all([
      cutConnections(cutter),
      ...paths.map((path) => client.send("GET", path)),
      client.send("POST", "/v1/agents", { prompt: { text: "again" } }),
    ]);
    answers.push(...asked);
  }
  const shown = (answer: ApiResponse) => `${answer.status} ${answer.headers["retry-after"] ?? ""} ${answer.bytes}`;
  const odd = answers
    .filter(({ status }) => status !== 200)
    .filter((answer) => !/^503 \d+ .*"unavailable"/.test(shown(answer)));
  expect(odd.map(shown)).toEqual([]);
});

test("a change whose connection is lost halfway is answered with 503, and a retry succeeds", async () => {
  const { client, fixture } = await openRunHarness({ replies: [], settings: { roles: ["api"] } });
  const { db } = fixture.platform;
  await sql`
    create function cut() returns trigger language plpgsql as $$
    begin perform pg_terminate_backend(pg_backend_pid()); return new; end $$;
    create trigger cut before insert on agents for each row execute function cut();
  `.execute(db);
  const refused = await client.send("POST", "/v1/agents", { prompt: { text: "go" } });
  expect([refused.status, refused.headers["retry-after"]]).toEqual([503, "1"]);
  expect(JSON.parse(refused.bytes.toString())).toMatchObject({ error: { code: "unavailable" } });
  await sql`drop trigger cut on agents`.execute(db);
  await client.create({ prompt: { text: "go" } });
});

test("a cancellation requested while the notification connection is down is not lost", async () => {
  const { client, fixture, requests } = await openRunHarness({
    replies: [stall("after-headers")],
    // So long that no renewal detects the cancellation.
    settings: { leaseMs: 3_600_000 },
  });
  const ids = await client.create({ prompt: { text: "think" } });
  await expect.poll(() => requests().length).toBe(1);
  const { db } = fixture.platform;
  await db.updateTable("runs").set({ cancel_requested_at: new Date() }).execute();
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and (query like 'listen%' or query = 'select 1')
  `.execute(db);
  expect((await client.stream(ids)).at(-2)?.data).toMatchObject({ status: "CANCELLED" });
});
