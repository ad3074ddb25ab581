// The pages as seen by a browser: login link, forms, and no access without a session.
import { afterAll, beforeAll, expect, test } from "vitest";
import { loginLink } from "../../src/pages/index.ts";
import { type TestServer, testServer } from "../harness/platform.ts";

let server: TestServer;
let key: string;
beforeAll(async () => {
  server = await testServer({ roles: ["api"] });
  key = await server.key();
});
afterAll(() => server.close());

interface Shown {
  status: number;
  html: string;
  headers: Headers;
}

/** Keeps its cookie, does not follow redirects. */
function browser() {
  let cookie = "";
  const send = async (path: string, init: RequestInit = {}): Promise<Shown> => {
    const url = path.startsWith("http") ? path : `${server.url}${path}`;
    const answer = await fetch(url, { redirect: "manual", ...init, headers: { ...init.headers, cookie } });
    const [given = ""] = (answer.headers.get("set-cookie") ?? "").split(";");
    if (given !== "") cookie = given;
    return { status: answer.status, html: await answer.text(), headers: answer.headers };
  };
  const form = (path: string, fields: Record<string, string>) =>
    send(path, { method: "POST", body: new URLSearchParams(fields) });
  return { get: (path: string) => send(path), form, send };
}

const tokenIn = ({ html }: Shown): string => /name="token" value="([^"]+)"/.exec(html)?.[1] ?? "";

/** Opens a link and presses the button. */
async function enter(visitor: ReturnType<typeof browser>): Promise<Shown> {
  const page = await visitor.get(await loginLink(server.platform, server.url));
  return visitor.form("/login", { token: tokenIn(page) });
}

async function loggedIn() {
  const visitor = browser();
  await enter(visitor);
  const { formToken } = sessionIn(await visitor.get("/agents"));
  /** As the web app does: JSON, the session's cookie and its token. */
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const json = { "content-type": "application/json", "x-csrf-token": formToken, ...headers };
    const { status, html } = await visitor.send(path, { method: "POST", body: JSON.stringify(body), headers: json });
    return { status, body: JSON.parse(html) };
  };
  const start = async (text: string): Promise<string> =>
    `/agents/${(await post("/v1/agents", { prompt: { text } })).body.agent.id}`;
  return { ...visitor, token: formToken, post, start };
}

/** What the document says of the visitor, as a browser reads it. */
function sessionIn({ html }: Shown): { email: string; formToken: string; notice: string | null } {
  const [, content = ""] = /<meta name="session" content="([^"]*)"/.exec(html) ?? [];
  const text = content
    .replaceAll("&quot;", '"')
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&#39;", "'");
  return JSON.parse(text.replaceAll("&amp;", "&"));
}

test("the link logs a browser in, and the cookie cannot be read by scripts or sent by other sites", async () => {
  const visitor = browser();
  const entered = await enter(visitor);
  expect(entered.headers.get("location")).toBe("/agents");
  expect(entered.headers.get("set-cookie")).toMatch(/HttpOnly.*SameSite=Lax/);
  expect((await visitor.get("/agents")).status).toBe(200);
});

test.each(["/agents", "/agents/bc-00000000-0000-4000-8000-000000000000", "/repositories", "/keys"])(
  "%s shows nothing to visitors who are not logged in",
  async (path) => {
    const shown = await browser().get(path);
    expect(shown.status).toBe(401);
    expect(shown.html).toContain("Log in");
  },
);

test("the agent URL returned by v0 redirects to its page", async () => {
  const shown = await (await loggedIn()).get("/agents?id=bc-1/../x");
  expect([shown.status, shown.headers.get("location")]).toEqual([302, "/agents/bc-1%2F..%2Fx"]);
});

test("a link or cookie with one changed character is refused", async () => {
  const link = await loginLink(server.platform, server.url);
  const broken = link.slice(0, -1) + (link.endsWith("A") ? "B" : "A");
  expect((await browser().get(broken)).status).toBe(401);
  expect((await browser().get("/login?token=1.AAAA")).status).toBe(401);
  expect((await browser().get("/login?token=999.AAAA")).status).toBe(401);
});

test("forms of people who are not logged in are small: a large one is refused before it is read", async () => {
  for (const path of ["/login", "/join"])
    expect((await browser().form(path, { token: "1.A", more: "x".repeat(5_000) })).status, path).toBe(413);
});

test("a session creates an agent, and user input is escaped in the document", async () => {
  const visitor = await loggedIn();
  const page = await visitor.get(await visitor.start("<script>alert(1)</script> & more"));
  expect(page.html).toContain("&lt;script&gt;alert(1)&lt;/script&gt; &amp; more");
  expect(page.html).not.toContain("<script>alert");
  expect(page.headers.get("content-security-policy")).toContain("script-src 'self';");
});

test("agents created in the web app have WEBSITE as their source", async () => {
  const visitor = await loggedIn();
  const path = await visitor.start("look around");
  const { body } = await server.call(key, "GET", `/v1/overview${path}`);
  expect(body).toMatchObject({ source: "WEBSITE", group: "running", owner: { isCaller: true } });
});

test("the files of the web app are sent compressed and may be kept for ever; other names are not found", async () => {
  const { html } = await (await loggedIn()).get("/agents");
  const names = [...html.matchAll(/(?:src|href)="(\/assets\/web\/[^"]+)"/g)].map(([, path = ""]) => path);
  expect(names.length).toBeGreaterThan(1);
  for (const [accepted, encoding] of [
    ["gzip, deflate, br", "br"],
    ["gzip", "gzip"],
    ["br;q=0, identity", null],
  ] as const)
    for (const name of names) {
      const answer = await fetch(`${server.url}${name}`, { headers: { "accept-encoding": accepted } });
      expect([answer.status, answer.headers.get("content-encoding")]).toEqual([200, encoding]);
      expect(answer.headers.get("cache-control")).toContain("immutable");
      expect(await answer.text()).toMatch(/^(?:import|const|let|var|:root|\/\*|\(|function|@)/);
    }
  for (const name of ["index.html", "..%2f..%2fpackage.json", "nothing.js"])
    expect((await fetch(`${server.url}/assets/web/${name}`)).status).toBe(404);
});

test("every page says that the practice model is in use", async () => {
  const visitor = await loggedIn();
  for (const path of ["/join", "/login"])
    expect((await (path === "/login" ? browser() : visitor).get(path)).html, path).toContain(
      "Agents use the practice model",
    );
  expect(sessionIn(await visitor.get("/agents")).notice).toContain("Agents use the practice model");
});

test("the page of an agent names the model of each run, and the list that of the latest one", async () => {
  const visitor = await loggedIn();
  const { html } = await visitor.get(await visitor.start("run echo hello"));
  expect(html).toContain("practice model (scripted, no intelligence)");
  const { items } = JSON.parse((await visitor.get("/v1/overview/agents")).html);
  expect(items[0].latestRun.model).toEqual({ id: "practice", provider: "practice" });
});

test("a cancelled run is shown as Cancelled, neither as a success nor as an error", async () => {
  const visitor = await loggedIn();
  const path = await visitor.start("stop this");
  const runs = server.platform.db.updateTable("runs").where("agent_id", "=", path.split("/").at(-1) ?? "");
  for (const [status, word] of [
    ["CANCELLED", "Cancelled"],
    ["EXPIRED", "Expired"],
    ["ERROR", "Failed"],
    ["FINISHED", "Finished"],
  ] as const) {
    await runs.set({ status }).execute();
    const { html } = await visitor.get(path);
    expect(html).toContain(`<strong>${word}</strong>`);
  }
});

test("a request sent twice under one key creates one agent; with another text it is refused", async () => {
  const visitor = await loggedIn();
  const send = (text: string) => visitor.post("/v1/agents", { prompt: { text } }, { "idempotency-key": "form-1" });
  const [first, second] = await Promise.all([send("once"), send("once")]);
  expect(second.body.agent.id).toBe(first.body.agent.id);
  expect(await send("once again")).toMatchObject({ status: 409, body: { error: { code: "idempotency_conflict" } } });
});

test("a follow-up sent twice under one key is one run", async () => {
  const visitor = await loggedIn();
  const path = await visitor.start("first");
  await server.platform.db.updateTable("runs").set({ status: "FINISHED", ended_at: new Date() }).execute();
  for (const _ of ["first time", "again"])
    await visitor.post(`/v1${path}/runs`, { prompt: { text: "second" } }, { "idempotency-key": "form-2" });
  const { body } = await server.call(key, "GET", `/v1${path}/runs`);
  expect((body as { items: unknown[] }).items).toHaveLength(2);
});

test("a request without the visitor's token does nothing", async () => {
  const visitor = await loggedIn();
  const before = await server.call(key, "GET", "/v1/agents");
  for (const token of ["", "wrong", (await loggedIn()).token]) {
    const refused = await visitor.post("/v1/agents", { prompt: { text: "no" } }, { "x-csrf-token": token });
    expect(refused.status).toBe(403);
  }
  expect((await server.call(key, "GET", "/v1/agents")).body).toEqual(before.body);
});

test("agents and repositories of another team are not found", async () => {
  const other = await server.key({ team: "others" });
  const made = (await server.call(other, "POST", "/v1/agents", { prompt: { text: "theirs" } })).body as {
    agent: { id: string };
  };
  const visitor = await loggedIn();
  expect((await visitor.get(`/agents/${made.agent.id}`)).status).toBe(404);
  expect((await visitor.get(`/agents/${made.agent.id}/changes`)).status).toBe(404);
  expect((await visitor.post(`/v1/agents/${made.agent.id}/archive`, {})).status).toBe(404);
  expect((await visitor.get("/v1/repositories/theirs/pulls")).status).toBe(404);
  expect((await visitor.get("/v1/overview/agents?limit=100")).html).not.toContain("theirs");
});

test("logout ends the session", async () => {
  const visitor = await loggedIn();
  await visitor.form("/logout", { token: visitor.token });
  expect((await visitor.get("/agents")).status).toBe(401);
});

test("an unknown path shows a page to browsers and JSON to other clients; API paths always get JSON", async () => {
  const accept = "text/html,application/xhtml+xml,*/*;q=0.8";
  const get = async (path: string, headers: Record<string, string>) => {
    const answer = await fetch(`${server.url}${path}`, { headers });
    return [answer.status, answer.headers.get("content-type")?.split(";")[0]];
  };
  for (const path of ["/nothing", "/agents/a/b/c/d", "/v12x/agents", "/%00", "/logout"])
    expect([path, ...(await get(path, { accept }))]).toEqual([path, 404, "text/html"]);
  for (const path of ["/v1", "/v1/nothing", "/v0/nothing", "/git/nothing", "/.well-known/nothing"])
    expect([path, ...(await get(path, { accept }))]).toEqual([path, 404, "application/json"]);
  expect(await get("/nothing", {})).toEqual([404, "application/json"]);
});

test("a path with characters that the database cannot store is not found", async () => {
  const { get, form, token } = await loggedIn();
  for (const path of ["/agents/%00", "/agents/%00/changes", "/repositories/%00", "/agents?cursor=%00"])
    expect([path, (await get(path)).status]).toEqual([path, 404]);
  for (const path of ["/sessions/%00/end"]) expect([path, (await form(path, { token })).status]).toEqual([path, 404]);
});
