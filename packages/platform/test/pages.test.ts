// The pages as a browser meets them: a link to come in, forms, and nothing for anybody else.
import { afterAll, beforeAll, expect, test } from "vitest";
import { loginLink } from "../src/pages/index.ts";
import { type TestServer, testServer } from "./platform.ts";

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

/** Keeps its cookie, follows nothing by itself. */
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
  return { get: (path: string) => send(path), form };
}

const tokenIn = ({ html }: Shown): string => /name="token" value="([^"]+)"/.exec(html)?.[1] ?? "";

async function loggedIn() {
  const visitor = browser();
  await visitor.get(await loginLink(server.platform, server.url));
  return { ...visitor, token: tokenIn(await visitor.get("/agents")) };
}

test("the link lets a browser in, and the cookie cannot be read by scripts or sent by other sites", async () => {
  const visitor = browser();
  const entered = await visitor.get(await loginLink(server.platform, server.url));
  expect(entered.headers.get("location")).toBe("/agents");
  expect(entered.headers.get("set-cookie")).toMatch(/HttpOnly.*SameSite=Lax/);
  expect((await visitor.get("/agents")).status).toBe(200);
});

test.each(["/agents", "/agents/bc-00000000-0000-4000-8000-000000000000", "/repositories", "/keys"])(
  "%s shows nothing to whoever is not logged in",
  async (path) => {
    const shown = await browser().get(path);
    expect(shown.status).toBe(401);
    expect(shown.html).toContain("Log in");
  },
);

test("a link or cookie that was changed in one place lets nobody in", async () => {
  const link = await loginLink(server.platform, server.url);
  const broken = link.slice(0, -1) + (link.endsWith("A") ? "B" : "A");
  expect((await browser().get(broken)).status).toBe(401);
  expect((await browser().get("/login?token=1.AAAA")).status).toBe(401);
  expect((await browser().get("/login?token=999.AAAA")).status).toBe(401);
});

test("a form starts an agent, and what a person wrote is text on the page", async () => {
  const visitor = await loggedIn();
  const prompt = "<script>alert(1)</script> & more";
  const started = await visitor.form("/agents", { token: visitor.token, prompt, mode: "agent" });
  expect(started.status).toBe(303);
  const page = await visitor.get(started.headers.get("location") ?? "");
  expect(page.html).toContain("&lt;script&gt;alert(1)&lt;/script&gt; &amp; more");
  expect(page.html).not.toContain("<script>alert");
  expect(page.headers.get("content-security-policy")).toContain("script-src 'self'");
});

test("a form without the token of its visitor does nothing", async () => {
  const visitor = await loggedIn();
  const before = await server.call(key, "GET", "/v1/agents");
  for (const token of ["", "wrong", (await loggedIn()).token]) {
    const refused = await visitor.form("/agents", { token, prompt: "no" });
    expect(refused.status).toBe(403);
  }
  expect((await server.call(key, "GET", "/v1/agents")).body).toEqual(before.body);
});

test("agents and repositories of another team are not there", async () => {
  const other = await server.key({ team: "others" });
  const made = (await server.call(other, "POST", "/v1/agents", { prompt: { text: "theirs" } })).body as {
    agent: { id: string };
  };
  const visitor = await loggedIn();
  expect((await visitor.get(`/agents/${made.agent.id}`)).status).toBe(404);
  expect((await visitor.form(`/agents/${made.agent.id}/archive`, { token: visitor.token })).status).toBe(404);
  expect((await visitor.get("/repositories/theirs")).status).toBe(404);
  expect((await visitor.get("/agents")).html).not.toContain("theirs");
});

test("a key is made, shown once, and ended", async () => {
  const visitor = await loggedIn();
  const made = await visitor.form("/keys", { token: visitor.token, name: "laptop" });
  const fresh = /class="key">(plt_[^<]+)</.exec(made.html)?.[1] ?? "";
  expect((await server.call(fresh, "GET", "/v1/me")).status).toBe(200);
  expect((await visitor.get("/keys")).html).not.toContain(fresh);
  await visitor.form(`/keys/${fresh.split("_")[1]}/revoke`, { token: visitor.token });
  await expect.poll(async () => (await server.call(fresh, "GET", "/v1/me")).status).toBe(401);
});

test("whoever leaves is out", async () => {
  const visitor = await loggedIn();
  await visitor.form("/logout", { token: visitor.token });
  expect((await visitor.get("/agents")).status).toBe(401);
});
