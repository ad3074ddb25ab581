// Routes beside the API: the listed ones are public; all others require authentication, and forms a CSRF token.
import { startGithub } from "@agentcli/testkit/github";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openServerContext } from "../src/foundation/context.ts";
import { type HttpServer, listen } from "../src/foundation/http/index.ts";
import { openAdministration } from "../src/identity/principals/index.ts";
import { makeLoginLink } from "../src/identity/sessions/index.ts";
import { composeApi, startActivities } from "../src/serve.ts";
import { openSubjects } from "../src/subjects.ts";
import { type Browser, logIn, openBrowser, tokenIn } from "./harness/browser.ts";
import { type TestPlatform, testPlatform } from "./harness/platform.ts";
import { githubSettings } from "./repositories/github-settings.ts";

/** Public routes, with their responses to requests without credentials. */
const publicRoutes: Record<string, number> = {
  "GET /": 302,
  "GET /assets/style.css": 200,
  "GET /assets/web/:name": 404,
  "GET /healthz": 200,
  "GET /readyz": 200,
  "GET /metrics": 200,
  "GET /openapi.json": 200,
  "GET /docs": 200,
  "GET /docs/:path{.+}": 404,
  "GET /docs/api": 200,
  "GET /.well-known/platform-signing-key": 200,
  "GET /.well-known/openid-configuration": 200,
  "GET /.well-known/jwks.json": 200,
  "GET /schemas/environment.schema.json": 200,
  "GET /manifest.webmanifest": 200,
  "GET /push-worker.js": 200,
  "GET /assets/icon.svg": 200,
  // Login routes; each requires its own secret.
  "GET /login": 401,
  "POST /login": 401,
  "GET /login/oidc": 403,
  "GET /login/oidc/callback": 403,
  "GET /join": 403,
  "POST /join": 403,
  "GET /accounts/github/callback": 400,
  "GET /artifacts/:id/:token": 404,
  // Nothing is there without an upgrade; with one it takes the key of a worker.
  "GET /v1/worker/stream": 404,
  // It takes the key of one automation.
  "POST /automations/webhook/:id": 401,
  // It takes deliveries that are signed with the secret of the event source.
  "POST /events/github/:id": 401,
};

/** Forms; members may submit them. */
const forms = ["/logout"];

interface Served {
  method: string;
  path: string;
  name: string;
}

let tested: TestPlatform;
let server: HttpServer;
let served: Served[];

beforeAll(async () => {
  const fake = await startGithub();
  const client = { id: fake.app.client.id, secretVariable: "GITHUB_CLIENT_SECRET" };
  tested = await testPlatform({
    roles: ["api"],
    sourceHosts: { blocked: [], protected: [], github: { ...(await githubSettings(fake)), client } },
    oidc: {
      issuer: "http://127.0.0.1:9/",
      clientId: "x",
      secretVariable: null,
      scopes: [],
      name: "Unreachable",
      allowedDomains: [],
      allowedEmails: [],
      team: "default",
      administrators: null,
    },
    variables: { PATH: process.env.PATH, GITHUB_CLIENT_SECRET: fake.app.client.secret },
  });
  await tested.key();
  await openAdministration(tested.platform.db, tested.platform.vault).createUser({
    email: "member@x",
    team: "default",
    role: "member",
  });
  let url = "";
  const context = openServerContext(tested.platform, () => url);
  const opened = await openSubjects(context);
  const api = composeApi(context, opened, new AbortController().signal);
  server = await listen(api, tested.platform.settings);
  url = server.url;
  const activities = await startActivities(context, opened);
  const documented = api.routes.map((route) => `${route.method.toUpperCase()} ${asHono(route.path)}`);
  served = distinct(api.app.routes.filter(({ path }) => path !== "/*")).filter(
    ({ name }) => !documented.includes(name),
  );
  afterAll(async () => {
    await server.stop();
    for (const activity of activities) await activity.stop();
    await tested.close();
    await fake.close();
  });
});

const asHono = (path: string): string => path.replace(/\{(\w+)\}/g, ":$1");

const distinct = (routes: { method: string; path: string }[]): Served[] => {
  const names = new Map(routes.map(({ method, path }) => [`${method} ${path}`, { method, path }]));
  return [...names].map(([name, route]) => ({ name, ...route }));
};

const filled = (path: string): string => {
  const address = path.replace(/:repository\{.*\.git\}/, "sample.git").replace(/:\w+/g, "1");
  return address.endsWith("/info/refs") ? `${address}?service=git-upload-pack` : address;
};

const isForm = ({ method, path }: Served): boolean =>
  method === "POST" && !path.startsWith("/git/") && !(`POST ${path}` in publicRoutes);

async function answerTo({ method, path }: Served, headers: Record<string, string>): Promise<number> {
  const sent = method === "GET" ? {} : { body: new URLSearchParams() };
  const answer = await fetch(`${server.url}${filled(path)}`, { method, redirect: "manual", headers, ...sent });
  await answer.body?.cancel();
  return answer.status;
}

async function visitor(email: string): Promise<Browser & { token: string }> {
  const { db } = tested.platform;
  const browser = openBrowser(server.url);
  const { id } = await db.selectFrom("users").select("id").where("email", "=", email).executeTakeFirstOrThrow();
  await logIn(browser, await makeLoginLink(db, id, server.url));
  return { ...browser, token: tokenIn(await browser.get("/settings")) };
}

const auditHead = async () =>
  (await sql<{ seq: string }>`select seq from audit_head`.execute(tested.platform.db)).rows[0]?.seq;

test("only the routes listed here are public, and they answer anonymous requests as listed", async () => {
  const before = await auditHead();
  const expected = Object.fromEntries(served.map(({ name }) => [name, publicRoutes[name] ?? 401]));
  const credentials: Record<string, string>[] = [
    {},
    { authorization: "Bearer plt_000000000000_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" },
    { cookie: `platform_session=${"A".repeat(43)}` },
  ];
  for (const headers of credentials) {
    const found: [string, number][] = [];
    for (const route of served) found.push([route.name, await answerTo(route, headers)]);
    expect(Object.fromEntries(found)).toEqual(expected);
  }
  expect(Object.keys(publicRoutes).filter((name) => !served.some((route) => route.name === name))).toEqual([]);
  expect(await auditHead()).toBe(before);
});

test("every form is listed here, and does nothing without its token, from another site or after its session", async () => {
  const shown = served.filter(isForm);
  expect(shown.map(({ path }) => path).sort()).toEqual(forms.toSorted());
  const [admin, ended] = [await visitor("admin@localhost"), await visitor("admin@localhost")];
  const cookie = ended.cookie();
  await ended.form("/logout", { token: ended.token });
  const before = await auditHead();
  const elsewhere = { origin: "https://elsewhere.example" };
  for (const { path } of shown) {
    const send = async (browser: Browser, fields: Record<string, string>, headers = {}) =>
      (await browser.form(filled(path), fields, headers)).status;
    const none = await send(admin, {});
    const wrong = await send(admin, { token: ended.token });
    const foreign = await send(admin, { token: admin.token }, elsewhere);
    const site = await send(admin, { token: admin.token }, { "sec-fetch-site": "cross-site" });
    const over = await send(openBrowser(server.url), { token: ended.token }, { cookie });
    expect({ path, none, wrong, foreign, site, over }).toEqual({
      path,
      none: 403,
      wrong: 403,
      foreign: 403,
      site: 403,
      over: 401,
    });
  }
  expect(await auditHead()).toBe(before);
});

test("git and pull requests accept no session, so that no browser can be made to push", async () => {
  const { token, ...admin } = await visitor("admin@localhost");
  const ofGit = served.filter(({ path }) => path.startsWith("/git/"));
  expect(ofGit.length).toBeGreaterThan(10);
  for (const route of ofGit)
    expect([route.name, await answerTo(route, { cookie: admin.cookie(), "x-csrf-token": token })]).toEqual([
      route.name,
      401,
    ]);
});
