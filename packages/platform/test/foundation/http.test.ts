// Valid and invalid requests against a real server with test routes.
import { BlockList } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import {
  type Api,
  ApiError,
  addSelfRoutes,
  createApi,
  type HttpServer,
  listen,
} from "../../src/foundation/http/index.ts";
import { type Log, openMetrics } from "../../src/foundation/telemetry/index.ts";
import { openAuthentication } from "../../src/identity/authenticate.ts";
import { openSessionAuthenticator } from "../../src/identity/sessions/index.ts";
import { type TestPlatform, testPlatform } from "../harness/platform.ts";
import { noRateLimits } from "../harness/settings.ts";

let tested: TestPlatform;
let server: HttpServer;
let key: string;
const logged: { event: string; facts: unknown }[] = [];
const log: Log = {
  info: (event, facts) => logged.push({ event, facts }),
  warn: (event, facts) => logged.push({ event, facts }),
  error: (event, error, facts) => logged.push({ event, facts: { ...facts, error: (error as Error).message } }),
};

const Thing = z.strictObject({
  text: z.string().max(10),
  count: z.int().optional(),
  tags: z.record(z.string(), z.string()).optional(),
  inner: z.union([z.strictObject({ url: z.string() }), z.strictObject({ data: z.string() })]).optional(),
});

beforeAll(async () => {
  tested = await testPlatform();
  key = await tested.key();
  const api = createApi({
    authenticate: authenticationOf(tested),
    limits: { ...noRateLimits, requestsPerMinute: 100_000, trustedProxies: new BlockList() },
    log,
    metrics: openMetrics(),
    queryTimeoutMs: 60_000,
  });
  addRoutes(api);
  addSelfRoutes(api, {
    metrics: openMetrics(),
    metricsAccess: { token: null, publicUrl: null },
    version: "1",
    url: "/",
    obstacle: async () => "told so",
  });
  server = await listen(api, { listen: { host: "127.0.0.1", port: 0 }, tls: null });
});
afterAll(async () => {
  await server.stop();
  await tested.close();
});

const authenticationOf = ({ platform: { principals, sessions, settings } }: TestPlatform) =>
  openAuthentication({ principals, sessionAuthenticator: openSessionAuthenticator(sessions, settings) });

function addRoutes(api: Api): void {
  const shared = { summary: "A route", tag: "test", scope: null };
  const answer = { status: 200, schema: () => z.unknown(), description: "An answer" } as const;
  api.route({ ...shared, method: "post", path: "/v1/things", body: () => Thing, answer }, async ({ body }) => ({
    got: body,
  }));
  api.route(
    {
      ...shared,
      method: "get",
      path: "/v1/things/{id}",
      params: () => z.object({ id: z.string().regex(/^t-\d+$/) }),
      query: () => z.object({ limit: z.coerce.number().int().max(100).optional() }),
      answer,
    },
    async ({ params, query }) => ({ params, query }),
  );
  api.route({ ...shared, method: "get", path: "/v1/admin", scope: "admin", answer }, async () => ({}));
  api.route({ ...shared, method: "get", path: "/v1/fault", answer }, async () => {
    throw new Error("the secret of the database");
  });
  api.route({ ...shared, method: "get", path: "/v1/problem", answer }, async () => {
    throw new ApiError("integration_not_connected", "Connect it.", {
      members: { helpUrl: "https://x", provider: "p" },
    });
  });
  const rateLimit = { requests: 2, seconds: 60 };
  api.route({ ...shared, method: "get", path: "/v1/rare", rateLimit, answer }, async () => ({}));
}

interface Sent {
  method?: string;
  body?: string | Buffer;
  headers?: Record<string, string>;
}

async function send(path: string, { method = "GET", body, headers = {} }: Sent = {}) {
  const answer = await fetch(`${server.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...headers },
    ...(body === undefined ? {} : { body }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text, body: text.startsWith("{") ? JSON.parse(text) : null };
}

const json = { "content-type": "application/json" };
const post = (body: string | Buffer, headers: Record<string, string> = json) =>
  send("/v1/things", { method: "POST", body, headers });

test("a valid request is answered, with an id that the caller may choose", async () => {
  const answer = await post('{"text":"hi"}', { ...json, "x-request-id": "mine-1", "x-cursor-client-version": "sdk-1" });
  expect(answer).toMatchObject({ status: 200, body: { got: { text: "hi" } } });
  expect(answer.headers.get("x-request-id")).toBe("mine-1");
  const other = await send("/healthz", { headers: { "x-request-id": "two words" } });
  expect(other.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
});

test.each([
  ['{"text":1}', "text: expected string, received number."],
  ["{}", "text: expected string, received undefined."],
  ['{"text":"hi","txet":1}', "txet: unknown field."],
  ['{"text":"much too long"}', "text: Too big"],
  ['{"text":"hi","inner":{"url":5}}', "inner.url: expected string, received number."],
  ['{"text":"hi","inner":{"data":"","more":1}}', "inner.more: unknown field."],
  ['{"text":"a\\u0000b"}', "text: contains a NUL character."],
  ["[]", "the body: expected object, received array."],
  ["null", "the body: expected object, received null."],
  ['{"text":', "the body: is not valid JSON."],
  ["", "the body: is empty; send JSON."],
  [`${"[".repeat(100_000)}`, "the body: is nested deeper than"],
  ['{"__proto__":{},"text":"hi"}', "__proto__: unknown field."],
  ['{"text":"hi","tags":{"__proto__":"x"}}', "tags.__proto__: unknown field."],
])("the body %j is refused: %s", async (body, complaint) => {
  const answer = await post(body);
  expect(answer).toMatchObject({ status: 400, body: { error: { code: "validation_error" } } });
  expect(answer.body.error.message).toContain(complaint);
});

test("invalid UTF-8 and other content types are refused", async () => {
  const broken = await post(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]));
  expect(broken).toMatchObject({ status: 400, body: { error: { message: expect.stringContaining("valid UTF-8") } } });
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1"]) {
    const answer = await post('{"text":"hi"}', { "content-type": type });
    expect(answer).toMatchObject({ status: 400, body: { error: { code: "validation_error" } } });
  }
  expect((await post('{"text":"hi"}', { "content-type": "application/json; charset=UTF-8" })).status).toBe(200);
});

test("a body over the limit is refused, with or without a content length", async () => {
  const large = Buffer.alloc(20 * 1024 * 1024, "x");
  expect(await post(large)).toMatchObject({ status: 413, body: { error: { code: "payload_too_large" } } });
  const chunked = await fetch(`${server.url}/v1/things`, {
    method: "POST",
    headers: { ...json, authorization: `Bearer ${key}` },
    body: new Blob([large]).stream(),
    duplex: "half",
  } as RequestInit);
  expect(chunked.status).toBe(413);
  expect(await chunked.json()).toMatchObject({ error: { code: "payload_too_large" } });
});

test("path and query parameters are validated, and errors name them", async () => {
  expect(await send("/v1/things/t-1?limit=5")).toMatchObject({ body: { params: { id: "t-1" }, query: { limit: 5 } } });
  expect((await send("/v1/things/x")).body.error.message).toContain("path parameter id:");
  expect((await send("/v1/things/t-1?limit=101")).body.error.message).toContain("query parameter limit:");
  expect((await send("/v1/things/t-1?limt=1")).body.error.message).toContain("query parameter limt: unknown field");
  expect((await send("/v1/things/t-1?limit=1&limit=2")).body.error.message).toContain(
    "limit: was given more than once",
  );
  expect((await send("/v1/things/%00")).status).toBe(400);
  expect((await send("/v1/things/%ff")).status).toBe(400);
});

test("no key, an invalid key and a key without the scope get different errors", async () => {
  const none = await send("/v1/admin", { headers: { authorization: "" } });
  expect(none).toMatchObject({ status: 401, body: { error: { code: "unauthorized" } } });
  expect(none.headers.get("www-authenticate")).toContain("Basic");
  const reader = await tested.key({ scopes: ["agents:read"] });
  const forbidden = await send("/v1/admin", { headers: { authorization: `Bearer ${reader}` } });
  expect(forbidden).toMatchObject({ status: 403, body: { error: { code: "forbidden" } } });
  expect(forbidden.body.error.message).toContain("lacks the scope admin");
  expect((await send("/v1/admin")).status).toBe(200);
});

test("an unknown path is 404, a known path with another method 405", async () => {
  expect(await send("/v1/nothing")).toMatchObject({ status: 404, body: { error: { code: "not_found" } } });
  const wrong = await send("/v1/things/t-1", { method: "DELETE" });
  expect(wrong).toMatchObject({ status: 405, body: { error: { code: "method_not_allowed" } } });
  expect(wrong.headers.get("allow")).toBe("GET");
});

test("an error keeps its code and its members", async () => {
  const { status, body } = await send("/v1/problem");
  expect(status).toBe(400);
  expect(body).toEqual({
    error: { code: "integration_not_connected", message: "Connect it.", helpUrl: "https://x", provider: "p" },
  });
});

test("an internal error reveals no details, and the log has them under the returned request id", async () => {
  const { status, text, headers } = await send("/v1/fault");
  const requestId = headers.get("x-request-id");
  expect(status).toBe(500);
  expect(text).not.toContain("secret");
  expect(text).toContain(requestId);
  const error = expect.objectContaining({ requestId, error: "the secret of the database" });
  expect(logged).toContainEqual({ event: "http.failed", facts: error });
});

test("a request over the rate limit gets a Retry-After header", async () => {
  const answers = [await send("/v1/rare"), await send("/v1/rare"), await send("/v1/rare")];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
  const wait = Number(answers[2]?.headers.get("retry-after"));
  expect(wait).toBeGreaterThan(0);
  expect(wait).toBeLessThanOrEqual(60);
  expect(answers[2]?.body.error.code).toBe("rate_limited");
});

test("the rate limit applies to a whole team, and does not affect other teams", async () => {
  const api = createApi({
    authenticate: authenticationOf(tested),
    limits: { ...noRateLimits, requestsPerMinute: 2, trustedProxies: new BlockList() },
    log,
    metrics: openMetrics(),
    queryTimeoutMs: 60_000,
  });
  addRoutes(api);
  const limited = await listen(api, { listen: { host: "127.0.0.1", port: 0 }, tls: null });
  const ask = async (own: string) =>
    (await fetch(`${limited.url}/v1/admin`, { headers: { authorization: `Bearer ${own}` } })).status;
  const [second, other] = [await tested.key({ name: "second" }), await tested.key({ team: "other" })];
  expect([await ask(key), await ask(second), await ask(key), await ask(second)]).toEqual([200, 200, 429, 429]);
  expect(await ask(other)).toBe(200);
  await limited.stop();
});

test("every request is logged with its route, without its content", async () => {
  await post('{"text":"sentinel!"}');
  expect(JSON.stringify(logged)).not.toContain("sentinel");
  const request = expect.objectContaining({ method: "POST", route: "/v1/things", status: 200, teamId: 1 });
  expect(logged).toContainEqual({ event: "http.request", facts: request });
});

test("readiness reports the obstacle", async () => {
  expect(await send("/readyz")).toMatchObject({ status: 503, body: { status: "not ready", reason: "told so" } });
});

test("the routes are documented with their schemas and errors", async () => {
  const { body } = await send("/openapi.json");
  expect(body.paths["/v1/things"].post.requestBody.content["application/json"].schema).toMatchObject({
    required: ["text"],
    additionalProperties: false,
  });
  expect(body.paths["/v1/things/{id}"].get.parameters).toEqual([
    { name: "id", in: "path", required: true, schema: expect.anything() },
    { name: "limit", in: "query", required: false, schema: expect.anything() },
  ]);
  expect(Object.keys(body.paths["/v1/things"].post.responses)).toEqual([
    "200",
    "400",
    "401",
    "403",
    "413",
    "429",
    "500",
    "503",
  ]);
  const { text } = await send("/docs/api");
  expect(text).toContain("<code>/v1/things/{id}</code>");
  expect(text).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
});

test("no input makes the server fail", async () => {
  const anything = fc.oneof(fc.json(), fc.string(), fc.constantFrom('{"text":"x"}', "{", '"'));
  const path = fc.oneof(
    fc.constantFrom("/v1/things", "/v1/things/t-1", "/v1/admin", "/openapi.json"),
    fc.webPath().map((tail) => `/v1/things${tail}`),
    fc.webQueryParameters().map((query) => `/v1/things/t-1?${query}`),
  );
  const method = fc.constantFrom("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS");
  await fc.assert(
    fc.asyncProperty(path, method, anything, async (where, how, body) => {
      const sent = how === "GET" ? {} : { body, headers: json };
      const { status, headers } = await send(where, { method: how, ...sent });
      expect(status).toBeLessThan(500);
      expect(headers.get("x-request-id")).toBeTruthy();
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 200) },
  );
});
