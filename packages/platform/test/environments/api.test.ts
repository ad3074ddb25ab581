// Environments over HTTP: shapes, refusals, and who may do what.
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Answer, type TestServer, testServer } from "../harness/platform.ts";

let server: TestServer;
let keys: Record<"admin" | "member" | "mate" | "account" | "stranger" | "reader", string>;
beforeAll(async () => {
  server = await testServer({ roles: ["api"] });
  const user = (email: string) => ({ kind: "user", email }) as const;
  keys = {
    admin: await server.key(),
    member: await server.key({ owner: user("member@example.com") }),
    mate: await server.key({ owner: user("mate@example.com") }),
    account: await server.key({ owner: { kind: "service_account", name: "robot" } }),
    stranger: await server.key({ team: "strangers" }),
    reader: await server.key({ owner: user("member@example.com"), scopes: ["agents:read"] }),
  };
});
afterAll(() => server.close());

const created = (more: object = {}) => ({
  owner: "personal",
  name: `environment ${Math.random()}`,
  repos: [],
  environmentJson: '{"install": "npm ci"}',
  ...more,
});

const create = async (key: string, more: object = {}): Promise<{ id: string; name: string }> => {
  const { status, body } = await server.call(key, "POST", "/v1/environments", created(more));
  expect([status, body]).toMatchObject([201, {}]);
  return body as { id: string; name: string };
};

const problem = ({ status, body }: Answer) => {
  const { error } = body as { error: { code: string; message: string; environmentId?: string } };
  return { status, code: error.code, message: error.message };
};

const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const uuid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);

test("an environment is created, read, listed, changed and deleted in the shapes of the wire", async () => {
  const { status, body } = await server.call(keys.member, "POST", "/v1/environments", created({ name: "shop" }));
  const shown = { id: uuid, name: "shop", owner: "personal", repos: [], createdAt: instant, updatedAt: instant };
  expect([status, body]).toEqual([201, shown]);
  const { id } = body as { id: string };
  const path = `/v1/environments/${id}`;
  expect((await server.call(keys.member, "GET", path)).body).toEqual({
    ...(body as object),
    environmentJson: '{"install": "npm ci"}',
    versionId: uuid,
    buildIntervalHours: 24,
    updateStaleBuilds: true,
    stalenessThresholdHours: 24,
  });
  const list = (await server.call(keys.member, "GET", "/v1/environments")).body as { items: { id: string }[] };
  expect(list.items.find((item) => item.id === id)).toEqual(body);
  const headers = { authorization: `Bearer ${keys.member}`, "content-type": "application/json" };
  const changed = await fetch(`${server.url}${path}`, {
    method: "PATCH",
    headers,
    body: JSON.stringify({ name: "store", environmentJson: "{}", buildIntervalHours: 0 }),
  });
  expect([changed.status, await changed.text()]).toEqual([204, ""]);
  expect((await server.call(keys.member, "GET", path)).body).toMatchObject({
    ...{ name: "store", environmentJson: "{}", buildIntervalHours: 0 },
  });
  expect(await server.call(keys.member, "DELETE", path)).toMatchObject({ status: 200, body: { id } });
  expect(problem(await server.call(keys.member, "GET", path))).toMatchObject({
    status: 404,
    code: "environment_not_found",
  });
});

test.each([
  [{}, 24],
  [{ buildIntervalHours: 5 }, 5],
])("the first recurring build is due one interval after the creation: %j", async (settings, hours) => {
  const { id } = await create(keys.admin, settings);
  const { next_build_at: next, created_at: since } = await server.platform.db
    .selectFrom("environments")
    .select(["next_build_at", "created_at"])
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  expect(Math.round((next.getTime() - since.getTime()) / 3_600_000)).toBe(hours);
});

test("the history has a version for each change, newest first, with the configuration of each", async () => {
  const { id } = await create(keys.member, { name: "history" });
  for (const change of [{ environmentJson: "{}" }, { name: "renamed" }])
    await fetch(`${server.url}/v1/environments/${id}`, {
      method: "PATCH",
      headers: { authorization: `Bearer ${keys.member}`, "content-type": "application/json" },
      body: JSON.stringify(change),
    });
  const path = `/v1/environments/${id}/history`;
  const { items } = (await server.call(keys.member, "GET", path)).body as { items: Record<string, unknown>[] };
  const shared = { id: uuid, createdAt: instant, source: "api" };
  expect(items).toEqual([
    {
      ...{ ...shared, kind: "updated", title: "Renamed", current: true, environmentJson: "{}" },
      description: 'Renamed from "history" to "renamed".',
    },
    {
      ...{ ...shared, kind: "updated", title: "Configuration changed", current: false, environmentJson: "{}" },
      description: "The configuration was replaced.",
    },
    {
      ...{ ...shared, kind: "created", title: "Created", current: false, environmentJson: '{"install": "npm ci"}' },
      description: 'The environment "history" was created.',
    },
  ]);
  const first = (await server.call(keys.member, "GET", `${path}?limit=2`)).body as { nextCursor: string };
  const rest = (await server.call(keys.member, "GET", `${path}?limit=2&cursor=${first.nextCursor}`)).body;
  expect(rest).toEqual({ items: items.slice(2) });
});

test("the list goes on where a page ends, most recently updated first", async () => {
  const ids: string[] = [];
  for (let count = 0; count < 3; count += 1) ids.unshift((await create(keys.mate)).id);
  const found: string[] = [];
  let path = "/v1/environments?limit=2";
  for (;;) {
    const page = (await server.call(keys.mate, "GET", path)).body as { items: { id: string }[]; nextCursor?: string };
    found.push(...page.items.map(({ id }) => id));
    if (!("nextCursor" in page)) break;
    path = `/v1/environments?limit=2&cursor=${page.nextCursor}`;
  }
  expect(found.filter((id) => ids.includes(id))).toEqual(ids);
  const ofAgents = Buffer.from(JSON.stringify(["2026-01-31T12:00:00.000Z", "bc-1"])).toString("base64url");
  const foreign = await server.call(keys.member, "GET", `/v1/environments?cursor=${ofAgents}`);
  expect(foreign).toMatchObject({ status: 400, body: { error: { code: "validation_error" } } });
});

test("bad requests are refused with the member and the reason", async () => {
  const cases: [object, string][] = [
    [{ environmentJson: '{\n "instal": 1}' }, "environmentJson:2:2: instal: unknown member; remove it."],
    [{ environmentJson: "{" }, "environmentJson:1:2: expected the name of a member in double quotes."],
    [{ environmentJson: "x".repeat(300_000) }, "environmentJson: must be 1 to 262144 bytes."],
    [{ owner: "someone" }, "owner: "],
    [{ name: "" }, "name: "],
    [{ name: "a".repeat(256) }, "name: "],
    [{ name: "a\nb" }, "name: "],
    [{ repos: Array.from({ length: 101 }, () => ({ url: "https://example.com/a/b" })) }, "repos: "],
    [{ repos: [{ url: "nothing" }] }, "repos[0].url "],
    [{ repos: [{ url: "https://example.com/a/b", branch: "main" }] }, "repos.0.branch: unknown field."],
    [{ buildIntervalHours: -1 }, "buildIntervalHours: "],
    [{ extra: 1 }, "extra: unknown field."],
  ];
  for (const [more, message] of cases) {
    const refused = problem(await server.call(keys.member, "POST", "/v1/environments", created(more)));
    expect(refused, JSON.stringify(more).slice(0, 100)).toMatchObject({ status: 400, code: "validation_error" });
    expect(refused.message).toContain(message);
  }
  const { id } = await create(keys.member);
  const changed = await server.call(keys.member, "PATCH", `/v1/environments/${id}`, { environmentJson: "[]" });
  expect(problem(changed)).toMatchObject({ status: 400, code: "validation_error" });
  const history = await server.call(keys.member, "GET", `/v1/environments/${id}/history?cursor=x`);
  expect(problem(history)).toMatchObject({ status: 400, code: "validation_error" });
  const builds = await server.call(keys.member, "GET", `/v1/environments/${id}/builds?limit=11`);
  expect(problem(builds)).toMatchObject({ status: 400, code: "validation_error" });
});

test("a repository that the team may not use is refused", async () => {
  const repos = [{ url: "http://127.0.0.1:1/a/b" }];
  const refused = await server.call(keys.member, "POST", "/v1/environments", created({ repos }));
  expect(problem(refused)).toMatchObject({ status: 400, code: "repository_access" });
});

test("a name is taken once per owner, and the refusal names the environment that has it", async () => {
  const { id } = await create(keys.member, { name: "taken" });
  const again = await server.call(keys.member, "POST", "/v1/environments", created({ name: "taken" }));
  expect([again.status, again.body]).toMatchObject([
    409,
    { error: { code: "environment_name_conflict", environmentId: id } },
  ]);
  await create(keys.mate, { name: "taken" });
  await create(keys.admin, { name: "taken", owner: "team" });
  const other = await create(keys.member);
  const renamed = await server.call(keys.member, "PATCH", `/v1/environments/${other.id}`, { name: "taken" });
  expect(problem(renamed)).toMatchObject({ status: 409, code: "environment_name_conflict" });
  const { items } = (await server.call(keys.member, "GET", `/v1/environments/${other.id}/history`)).body as {
    items: object[];
  };
  expect(items).toHaveLength(1);
});

const operations: [string, string, object?][] = [
  ["GET", ""],
  ["PATCH", "", { name: "mine" }],
  ["DELETE", ""],
  ["GET", "/history"],
  ["GET", "/builds"],
  ["POST", "/builds", {}],
  ["GET", "/builds/active"],
  ["GET", "/builds/bld-20260101-x"],
  ["POST", "/builds/bld-20260101-x/activate"],
  ["POST", "/builds/bld-20260101-x/cancel"],
  ["GET", "/builds/bld-20260101-x/logs"],
];

test("other teams, and other users for a personal one, get 404 for everything and see nothing in lists", async () => {
  const personal = await create(keys.member);
  const ofTeam = await create(keys.admin, { owner: "team" });
  const cases: [string, { id: string }][] = [
    [keys.stranger, personal],
    [keys.stranger, ofTeam],
    [keys.mate, personal],
    [keys.admin, personal],
    [keys.account, personal],
  ];
  for (const [key, { id }] of cases) {
    for (const [method, path, body] of operations) {
      const refused = problem(await server.call(key, method, `/v1/environments/${id}${path}`, body));
      expect(refused, `${method} ${path}`).toMatchObject({ status: 404, code: "environment_not_found" });
    }
    const list = await server.call(key, "GET", "/v1/environments?limit=100");
    expect(JSON.stringify(list.body)).not.toContain(id);
  }
  for (const id of ["x", "00000000-0000-4000-8000-000000000000", "%27"])
    expect(problem(await server.call(keys.admin, "GET", `/v1/environments/${id}`)).code).toBe("environment_not_found");
});

test("those of the team are read by all, and changed by administrators and service accounts", async () => {
  const refused = await server.call(keys.member, "POST", "/v1/environments", created({ owner: "team" }));
  expect(problem(refused)).toMatchObject({ status: 403, code: "team_admin_required" });
  for (const key of [keys.admin, keys.account]) {
    const { id } = await create(key, { owner: "team" });
    const path = `/v1/environments/${id}`;
    expect((await server.call(keys.member, "GET", path)).status).toBe(200);
    for (const [method, suffix, body] of [
      ["PATCH", "", { name: "mine" }],
      ["DELETE", ""],
      ["POST", "/builds", {}],
    ] as const)
      expect(problem(await server.call(keys.member, method, `${path}${suffix}`, body))).toMatchObject({
        ...{ status: 403, code: "team_admin_required" },
      });
    const draft = await server.call(keys.member, "POST", `${path}/builds`, { draft: true });
    expect(draft).toMatchObject({ status: 201, body: { draft: true } });
    expect((await server.call(keys.member, "GET", `${path}/builds/active`)).body).toEqual({ type: "universal_image" });
    expect((await server.call(key, "DELETE", path)).status).toBe(200);
  }
});

test("a service account has no personal environments, and a key without the scope changes nothing", async () => {
  const refused = await server.call(keys.account, "POST", "/v1/environments", created());
  expect(problem(refused)).toMatchObject({ status: 403, code: "user_required" });
  expect(problem(await server.call(keys.reader, "POST", "/v1/environments", created()))).toMatchObject({
    ...{ status: 403, code: "forbidden" },
  });
  expect((await server.call(keys.reader, "GET", "/v1/environments")).status).toBe(200);
});

test("builds are requested, listed ten to a page, cancelled and refused in the shapes of the wire", async () => {
  const { id } = await create(keys.member);
  const path = `/v1/environments/${id}/builds`;
  const { status, body } = await server.call(keys.member, "POST", path, { install: "npm install" });
  const buildId = expect.stringMatching(/^bld-\d{8}-[0-9a-f-]{36}$/);
  const shown = { id: buildId, environmentId: id, status: "IN_PROGRESS", trigger: "MANUAL", draft: true };
  expect([status, body]).toEqual([201, { ...shown, createdAt: instant, updatedAt: instant }]);
  const build = body as { id: string };
  expect((await server.call(keys.member, "GET", `${path}/${build.id}`)).body).toEqual(body);
  const notReady = await server.call(keys.member, "POST", `${path}/${build.id}/activate`);
  expect(problem(notReady)).toMatchObject({ status: 409, code: "build_not_ready" });
  const cancelled = await server.call(keys.member, "POST", `${path}/${build.id}/cancel`);
  expect(cancelled).toMatchObject({ status: 200, body: { status: "CANCELLED", completedAt: instant } });
  const again = await server.call(keys.member, "POST", `${path}/${build.id}/cancel`);
  expect(problem(again)).toMatchObject({ status: 409, code: "build_not_cancellable" });
  const log = await fetch(`${server.url}${path}/${build.id}/logs`, {
    headers: { authorization: `Bearer ${keys.member}` },
  });
  expect([log.headers.get("content-type"), await log.text()]).toEqual([
    expect.stringContaining("text/plain"),
    "Cancelled before it began.\n",
  ]);
  for (const suffix of ["", "/logs"])
    expect(problem(await server.call(keys.member, "GET", `${path}/bld-20260101-x${suffix}`))).toMatchObject({
      ...{ status: 404, code: "build_not_found" },
    });
  const contradiction = await server.call(keys.member, "POST", path, { draft: false, start: "true" });
  expect(problem(contradiction)).toMatchObject({ status: 400, code: "validation_error" });
  for (let count = 0; count < 10; count += 1) await server.call(keys.member, "POST", path, {});
  const first = (await server.call(keys.member, "GET", path)).body as { items: object[]; nextCursor: string };
  expect(first.items).toHaveLength(10);
  const rest = (await server.call(keys.member, "GET", `${path}?cursor=${first.nextCursor}`)).body as {
    items: { id: string; trigger: string }[];
  };
  expect(rest).not.toHaveProperty("nextCursor");
  expect(rest.items.map(({ trigger }) => trigger)).toEqual(["MANUAL", "CONFIG_CHANGE"]);
});

test("the schema of environment.json is public, and it is the one that the server applies", async () => {
  const answer = await fetch(`${server.url}/schemas/environment.schema.json`);
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/schema+json"]);
  const schema = (await answer.json()) as { $id: string };
  expect(schema.$id).toBe(`${server.url}/schemas/environment.schema.json`);
  const validates = new Ajv2020({ strict: false }).compile(schema);
  expect(validates({ install: "npm ci", build: { dockerfile: "Dockerfile" } })).toBe(true);
  expect(validates({ image: "a", snapshot: "b" })).toBe(false);
});
