// Secrets over HTTP, row by row: shapes, versions, scopes, refusals, who may do what, and that no value is shown anywhere.
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openLog } from "../../src/foundation/telemetry/index.ts";
import type { SecretOwnerId } from "../../src/secrets/owner.ts";
import { setSecret } from "../../src/secrets/store.ts";
import { command, commandWith } from "../harness/command.ts";
import { findLeaks } from "../harness/leaks.ts";
import { type Answer, type TestServer, testServer } from "../harness/platform.ts";

const canary = "canary-5b1f-value";
const logged: string[] = [];
const answers: string[] = [];

let server: TestServer;
let keys: Record<"admin" | "member" | "mate" | "account" | "stranger" | "reader", string>;
beforeAll(async () => {
  server = await testServer({ roles: ["api"] }, openLog({ write: (line) => logged.push(line), now: () => new Date() }));
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

async function call(key: string, method: string, path: string, body?: unknown): Promise<Answer> {
  const answer = await server.call(key, method, path, body);
  answers.push(JSON.stringify([answer.body, [...answer.headers]]));
  return answer;
}

const problem = ({ status, body }: Answer) => {
  const { error } = body as { error: { code: string; message: string; versions?: object[] } };
  return { status, ...error };
};

interface Version {
  id: string;
  name: string;
  repos: string[];
}
const items = ({ body }: Answer) => (body as { items: (Version & { owner?: object })[] }).items;
const names = (answer: Answer) => items(answer).map(({ name }) => name);

const value = { value: canary };
/** Long enough for a placeholder. */
const long = `${canary}-0123456789abcdef`;
const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const versionId = expect.stringMatching(/^secv_[\w-]{22}$/);

async function environment(key = keys.admin, owner = "team"): Promise<string> {
  const body = { owner, name: randomUUID(), repos: [], environmentJson: "{}" };
  return ((await call(key, "POST", "/v1/environments", body)).body as { id: string }).id;
}

async function addVersion(name: string, repos: string[], limitedTo: Partial<SecretOwnerId> = {}): Promise<string> {
  const [team = { id: 0 }] = await server.platform.db
    .selectFrom("teams")
    .select("id")
    .where("name", "=", "default")
    .execute();
  const owner = { teamId: team.id, userId: null, environmentId: null, ...limitedTo };
  return (await setSecret(server.platform, owner, { name, value: canary, repos, isAddition: true })).version.id;
}

test("a secret is set, changed in place, listed and removed in the shapes of the wire", async () => {
  const environmentId = await environment();
  for (const path of ["/v1/team/secrets", `/v1/environments/${environmentId}/secrets`, "/v1/me/secrets"]) {
    const set = (body: object) => call(keys.admin, "PUT", `${path}/NPM_TOKEN`, body);
    const created = await set(value);
    const shape = { id: versionId, name: "NPM_TOKEN", type: "runtime_secret", repos: [], createdAt: instant };
    expect([created.status, created.body], path).toEqual([201, shape]);
    const repos = ["github.com/acme/api"];
    const changed = await set({ ...value, type: "environment_variable", repos: ["https://GitHub.com/Acme/API.git"] });
    expect([changed.status, changed.body]).toEqual([
      200,
      { ...(created.body as object), type: "environment_variable", repos },
    ]);
    const kept = await set(value);
    expect([kept.status, kept.body]).toEqual([200, changed.body]);
    await call(keys.admin, "PUT", `${path}/ALPHA`, value);
    const listed = await call(keys.admin, "GET", path);
    expect(listed.body).toMatchObject({ nextCursor: null });
    expect(names(listed)).toEqual(["ALPHA", "NPM_TOKEN"]);
    for (const name of ["ALPHA", "NPM_TOKEN"])
      expect(await call(keys.admin, "DELETE", `${path}/${name}`)).toMatchObject({ status: 200, body: { name } });
    expect(names(await call(keys.admin, "GET", path))).toEqual([]);
    const gone = problem(await call(keys.admin, "DELETE", `${path}/ALPHA`));
    expect(gone).toMatchObject({ status: 404, code: "secret_not_found" });
  }
});

test("with several versions a request must say which, and each is for other repositories", async () => {
  const path = "/v1/team/secrets/SEVERAL";
  const first = await addVersion("SEVERAL", ["github.com/acme/api"]);
  const second = await addVersion("SEVERAL", ["github.com/acme/web"]);
  for (const [method, body] of [["PUT", value], ["DELETE"]] as [string, object?][]) {
    const refused = problem(await call(keys.admin, method, path, body));
    expect(refused).toMatchObject({ status: 409, code: "secret_name_ambiguous" });
    expect(new Set(refused.versions)).toEqual(
      new Set([
        { id: first, repos: ["github.com/acme/api"] },
        { id: second, repos: ["github.com/acme/web"] },
      ]),
    );
  }
  const changed = await call(keys.admin, "PUT", `${path}?id=${second}`, value);
  expect(changed).toMatchObject({ status: 200, body: { id: second, repos: ["github.com/acme/web"] } });
  for (const repos of [["github.com/acme/api"], []]) {
    const refused = problem(await call(keys.admin, "PUT", `${path}?id=${second}`, { ...value, repos }));
    expect(refused).toMatchObject({ status: 409, code: "secret_scope_conflict" });
    expect(refused.message).toContain(first);
  }
  const unknown = problem(await call(keys.admin, "PUT", `${path}?id=secv_none`, value));
  expect(unknown).toMatchObject({ status: 404, code: "secret_not_found" });
  const ofRepo = await call(keys.admin, "GET", "/v1/secrets?name=SEVERAL&repo=github.com/acme/web");
  expect(items(ofRepo).map(({ id }) => id)).toEqual([second]);
  for (const id of [first, second])
    expect(await call(keys.admin, "DELETE", `${path}?id=${id}`)).toMatchObject({ status: 200 });
});

test.each(["user", "environment"])(
  "of the %s too, each conflict has its code, and nothing is changed",
  async (kind) => {
    const environmentId = await environment();
    const users = server.platform.db.selectFrom("users").select("id").where("email", "=", "mate@example.com");
    const { id: userId } = await users.executeTakeFirstOrThrow();
    const [key, limitedTo, path] =
      kind === "user"
        ? [keys.mate, { userId }, "/v1/me/secrets"]
        : [keys.admin, { environmentId }, `/v1/environments/${environmentId}/secrets`];
    const [first, second] = ["api", "web"].map((repo) => [`github.com/acme/${repo}`]);
    const ids = [await addVersion("TWICE", first ?? [], limitedTo), await addVersion("TWICE", second ?? [], limitedTo)];
    const before = (await call(key, "GET", path)).body;
    const all = { ...value, repos: [] };
    const requests: [string, string, object | undefined, number, string][] = [
      ["PUT", "TWICE", value, 409, "secret_name_ambiguous"],
      ["PUT", "TWICE", all, 409, "secret_name_ambiguous"],
      ["DELETE", "TWICE", undefined, 409, "secret_name_ambiguous"],
      ["PUT", `TWICE?id=${ids[1]}`, { ...value, repos: first }, 409, "secret_scope_conflict"],
      ["PUT", `TWICE?id=${ids[1]}`, all, 409, "secret_scope_conflict"],
      ["PUT", "twice", value, 409, "secret_name_conflict"],
      ["PUT", `Twice?id=${ids[1]}`, value, 409, "secret_name_conflict"],
      ["DELETE", "twice", undefined, 404, "secret_not_found"],
      ["DELETE", "TWICE?id=secv_other", undefined, 404, "secret_not_found"],
      ["DELETE", `OTHER?id=${ids[1]}`, undefined, 404, "secret_not_found"],
      ["PUT", "TWICE", { ...value, type: "build_secret" }, 400, "validation_error"],
      ["PUT", "HTTPS_PROXY", value, 400, "validation_error"],
    ];
    for (const [method, target, body, status, code] of requests)
      expect({ method, target, ...problem(await call(key, method, `${path}/${target}`, body)) }).toMatchObject({
        ...{ method, target, status, code },
      });
    expect((await call(key, "GET", path)).body).toEqual(before);
    // One of the team has the same name, and is another secret.
    expect((await call(keys.admin, "PUT", "/v1/team/secrets/TWICE", value)).status).toBe(201);
    for (const id of ids) expect((await call(key, "DELETE", `${path}/TWICE?id=${id}`)).status).toBe(200);
    expect((await call(keys.admin, "DELETE", "/v1/team/secrets/TWICE")).status).toBe(200);
  },
);

test("a name that differs only in its case is refused, and removing asks for the exact name", async () => {
  await call(keys.admin, "PUT", "/v1/team/secrets/CaseName", value);
  const refused = problem(await call(keys.admin, "PUT", "/v1/team/secrets/CASENAME", value));
  expect(refused).toMatchObject({ status: 409, code: "secret_name_conflict" });
  expect(refused.message).toContain("CaseName");
  const removed = problem(await call(keys.admin, "DELETE", "/v1/team/secrets/casename"));
  expect(removed).toMatchObject({ status: 404, code: "secret_not_found" });
});

test.each([
  "1ST",
  "A-B",
  "A.B",
  "%C3%84",
  "a".repeat(256),
  "HTTP_PROXY",
  "https_proxy",
  "All_Proxy",
  "MY_CURSOR_SANDBOX_X",
  "PLATFORM_SANDBOX",
])("the name %s is refused", async (name) => {
  const refused = problem(await call(keys.admin, "PUT", `/v1/team/secrets/${name}`, value));
  expect(refused).toMatchObject({ status: 400, code: "validation_error" });
});

test.each<[string, object]>([
  ["without a value", {}],
  ["with an empty value", { value: "" }],
  ["with 4097 bytes", { value: "x".repeat(4097) }],
  ["with 4098 bytes in 2049 characters", { value: "é".repeat(2049) }],
  ["with a NUL", { value: "a\0b" }],
  ["with a number", { value: 1 }],
  ["with the type build_secret", { ...value, type: "build_secret" }],
  ["with an unknown type", { ...value, type: "other" }],
  ["with a repository that is none", { ...value, repos: ["nothing"] }],
  ["with 101 repositories", { ...value, repos: Array.from({ length: 101 }, (_, index) => `github.com/a/${index}`) }],
  ["with an unknown member", { ...value, phase: "both" }],
  ["with a host that is an address", { value: long, hosts: ["10.0.0.1"] }],
  ["with a host that is every host", { value: long, hosts: ["*"] }],
  ["with hosts and a value too short for a placeholder", { ...value, hosts: ["api.example.com"] }],
  ["with hosts and a value of two lines", { value: `${long}\n${long}`, hosts: ["api.example.com"] }],
  ["with hosts and the type environment_variable", { value: long, type: "environment_variable", hosts: ["a.example"] }],
  ["with a use and no host", { value: long, uses: ["bearer"] }],
  ["with an unknown use", { value: long, hosts: ["api.example.com"], uses: ["cookie"] }],
])("a body %s is refused and its value is not repeated", async (_, body) => {
  const refused = problem(await call(keys.admin, "PUT", "/v1/team/secrets/REFUSED", body));
  expect(refused).toMatchObject({ status: 400, code: "validation_error" });
  expect(refused.message).not.toContain(canary);
});

test("the largest value and the longest name are taken", async () => {
  const path = `/v1/me/secrets/${"n".repeat(255)}`;
  expect(await call(keys.mate, "PUT", path, { value: "x".repeat(4096) })).toMatchObject({ status: 201 });
  expect(await call(keys.mate, "DELETE", path)).toMatchObject({ status: 200 });
});

test("a build secret is listed and can be removed, but not changed over the API", async () => {
  await commandWith(canary, server, ["secrets", "set", "REGISTRY_TOKEN", "--phase", "build"]);
  const listed = items(await call(keys.member, "GET", "/v1/team/secrets"));
  expect(listed.find(({ name }) => name === "REGISTRY_TOKEN")).toMatchObject({ type: "build_secret" });
  const refused = problem(await call(keys.admin, "PUT", "/v1/team/secrets/REGISTRY_TOKEN", value));
  expect(refused).toMatchObject({ status: 400, code: "validation_error" });
  expect(await call(keys.admin, "DELETE", "/v1/team/secrets/REGISTRY_TOKEN")).toMatchObject({ status: 200 });
});

test("an owner has at most 1000 secrets", async () => {
  const environmentId = await environment();
  const [team = { id: 0 }] = await server.platform.db
    .selectFrom("teams")
    .select("id")
    .where("name", "=", "default")
    .execute();
  const rows = Array.from({ length: 1000 }, (_, index) => ({
    ...{ id: `secv_limit_${index}`, team_id: team.id, user_id: null, environment_id: environmentId },
    ...({
      name: `LIMIT_${index}`,
      type: "runtime_secret",
      phase: "run",
      repos: "[]",
      sealed: Buffer.from("-"),
    } as const),
  }));
  await server.platform.db.insertInto("secrets").values(rows).execute();
  const path = `/v1/environments/${environmentId}/secrets`;
  const refused = problem(await call(keys.admin, "PUT", `${path}/ONE_MORE`, value));
  expect(refused).toMatchObject({ status: 409, code: "secret_limit_reached" });
  expect(await call(keys.admin, "PUT", `${path}/LIMIT_0`, value)).toMatchObject({ status: 200 });
  expect(items(await call(keys.admin, "GET", path))).toHaveLength(1000);
  const first = await call(keys.admin, "GET", `/v1/secrets?environmentId=${environmentId}`);
  expect(items(first)).toHaveLength(100);
  expect(first.body).toMatchObject({ nextCursor: expect.any(String) });
  const found = new Set<string>();
  let cursor: string | null = "";
  while (cursor !== null) {
    const page: Answer = await call(
      keys.admin,
      "GET",
      `/v1/secrets?environmentId=${environmentId}&limit=90${cursor && `&cursor=${cursor}`}`,
    );
    for (const { id } of items(page)) found.add(id);
    cursor = (page.body as { nextCursor: string | null }).nextCursor;
  }
  expect(found.size).toBe(1000);
  await call(keys.admin, "DELETE", `/v1/environments/${environmentId}`);
});

test("members see the names of the team's secrets; administrators and service accounts change them", async () => {
  expect(await call(keys.account, "PUT", "/v1/team/secrets/SHARED", value)).toMatchObject({ status: 201 });
  for (const key of [keys.member, keys.reader, keys.account, keys.admin])
    expect(names(await call(key, "GET", "/v1/team/secrets"))).toContain("SHARED");
  expect(names(await call(keys.stranger, "GET", "/v1/team/secrets"))).toEqual([]);
  for (const [method, body] of [["PUT", value], ["DELETE"]] as [string, object?][]) {
    expect(problem(await call(keys.member, method, "/v1/team/secrets/SHARED", body))).toMatchObject({
      ...{ status: 403, code: "team_admin_required" },
    });
    expect(problem(await call(keys.reader, method, "/v1/team/secrets/SHARED", body))).toMatchObject({
      ...{ status: 403, code: "forbidden" },
    });
  }
  expect(await call(keys.admin, "DELETE", "/v1/team/secrets/SHARED")).toMatchObject({ status: 200 });
});

test("secrets of a user are the user's alone, and a service account has none", async () => {
  await call(keys.member, "PUT", "/v1/me/secrets/MINE", value);
  expect(names(await call(keys.mate, "GET", "/v1/me/secrets"))).toEqual([]);
  for (const path of ["/v1/secrets", "/v1/secrets?scope=user"]) {
    expect(names(await call(keys.mate, "GET", path))).not.toContain("MINE");
    expect(names(await call(keys.stranger, "GET", path))).not.toContain("MINE");
    expect(items(await call(keys.member, "GET", path)).find(({ name }) => name === "MINE")?.owner).toEqual({
      ...{ type: "user", user: { email: "member@example.com" } },
    });
    // So that an administrator can ask for it to be removed.
    expect(names(await call(keys.admin, "GET", path))).toContain("MINE");
  }
  for (const path of ["/v1/me/secrets", "/v1/secrets?scope=user"])
    expect(problem(await call(keys.account, "GET", path))).toMatchObject({ status: 403, code: "user_required" });
  expect(names(await call(keys.account, "GET", "/v1/secrets"))).not.toContain("MINE");
});

test("secrets of an environment are for those who may see it, and changed by those who may change it", async () => {
  const [ofTeam, personal] = [await environment(), await environment(keys.member, "personal")];
  const path = (id: string) => `/v1/environments/${id}/secrets`;
  await call(keys.admin, "PUT", `${path(ofTeam)}/TEAM_ENV`, value);
  await call(keys.member, "PUT", `${path(personal)}/OWN_ENV`, value);
  expect(names(await call(keys.mate, "GET", path(ofTeam)))).toEqual(["TEAM_ENV"]);
  expect(problem(await call(keys.mate, "PUT", `${path(ofTeam)}/TEAM_ENV`, value))).toMatchObject({
    ...{ status: 403, code: "team_admin_required" },
  });
  for (const key of [keys.mate, keys.admin, keys.account, keys.stranger])
    for (const [method, target, body] of [
      ["GET", path(personal)],
      ["GET", `/v1/secrets?scope=environment&environmentId=${personal}`],
      ["PUT", `${path(personal)}/OWN_ENV`, value],
      ["DELETE", `${path(personal)}/OWN_ENV`],
    ] as [string, string, object?][])
      expect(problem(await call(key, method, target, body))).toMatchObject({
        ...{ status: 404, code: "environment_not_found" },
      });
  const mine = items(await call(keys.member, "GET", "/v1/secrets?scope=environment"));
  expect(mine.map(({ name, owner }) => [name, owner])).toEqual(
    expect.arrayContaining([
      ["OWN_ENV", { type: "environment", environmentId: personal }],
      ["TEAM_ENV", { type: "environment", environmentId: ofTeam }],
    ]),
  );
  expect(names(await call(keys.mate, "GET", "/v1/secrets"))).not.toContain("OWN_ENV");
});

test.each(["?scope=other", "?limit=0", "?limit=101", "?cursor=x", "?repo=nothing", "?other=1"])(
  "the query %s is refused",
  async (query) => {
    const refused = problem(await call(keys.admin, "GET", `/v1/secrets${query}`));
    expect(refused).toMatchObject({ status: 400, code: "validation_error" });
  },
);

test("environmentId is for the scope environment", async () => {
  const refused = problem(await call(keys.admin, "GET", `/v1/secrets?scope=team&environmentId=${randomUUID()}`));
  expect(refused).toMatchObject({ status: 400, code: "validation_error" });
});

test("two that set the same new name at once make one version", async () => {
  const path = "/v1/team/secrets/AT_ONCE";
  const both = await Promise.all([1, 2, 3, 4].map(() => call(keys.admin, "PUT", path, value)));
  expect(both.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 201]);
  expect(new Set(both.map(({ body }) => (body as Version).id)).size).toBe(1);
});

const texts = fc.oneof(fc.string({ maxLength: 40 }), fc.constantFrom("A", "NPM_TOKEN", "HTTP_PROXY", "secv_x", "\0"));
const anything = fc.oneof(texts, fc.jsonValue({ maxDepth: 2 }), fc.array(texts, { maxLength: 3 }));

test("any other request is answered with a documented code and never with a failure of the server", async () => {
  const expected = [200, 201, 400, 403, 404, 405, 409, 413];
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom("/v1/secrets", "/v1/team/secrets", "/v1/me/secrets", "/v1/environments/x/secrets"),
      fc.constantFrom("GET", "PUT", "DELETE"),
      fc.record({ name: fc.option(texts), query: fc.dictionary(texts, texts, { maxKeys: 2 }), body: anything }),
      async (path, method, { name, query, body }) => {
        const target = `${path}${name === null ? "" : `/${encodeURIComponent(name.slice(0, 30))}`}?${new URLSearchParams(query)}`;
        const sent =
          method === "PUT" ? { value: canary, ...(typeof body === "object" && body), x: undefined } : undefined;
        const { status } = await call(keys.mate, method, target, sent);
        expect(expected, `${method} ${target} ${JSON.stringify(sent)}`).toContain(status);
      },
    ),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 150) },
  );
});

test("changes are in the audit log with their actor; no value is in a response, the log, the audit log or the database", async () => {
  await call(keys.account, "PUT", "/v1/team/secrets/AUDITED", value);
  await call(keys.account, "PUT", "/v1/team/secrets/AUDITED", { value: `${canary}-2` });
  await call(keys.account, "DELETE", "/v1/team/secrets/AUDITED");
  const entries = await server.platform.db.selectFrom("audit_entries").select("entry").orderBy("seq").execute();
  const events = entries.map(({ entry }) => JSON.parse(entry)).filter(({ action }) => action.startsWith("secret."));
  expect(events.slice(-3)).toMatchObject(
    [
      { action: "secret.created", actor: /^service_account:/, data: { name: "AUDITED" } },
      { action: "secret.changed", data: { updated_at: expect.any(String) } },
      { action: "secret.deleted", data: { name: "AUDITED" } },
    ].map((event) => ({ ...event, ...("actor" in event && { actor: expect.stringMatching(event.actor as RegExp) }) })),
  );
  expect(await command(server, "secrets", "list")).not.toContain(canary);
  expect(answers.join("\n")).not.toContain(canary);
  expect(await findLeaks(server, logged, [canary, Buffer.from(canary).toString("base64")])).toEqual([]);
});
