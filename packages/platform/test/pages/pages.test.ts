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
  return { get: (path: string) => send(path), form };
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
  return { ...visitor, token: tokenIn(await visitor.get("/agents")) };
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

test("a form creates an agent, and user input is escaped on the page", async () => {
  const visitor = await loggedIn();
  const prompt = "<script>alert(1)</script> & more";
  const started = await visitor.form("/agents", { token: visitor.token, prompt, mode: "agent" });
  expect(started.status).toBe(303);
  const page = await visitor.get(started.headers.get("location") ?? "");
  expect(page.html).toContain("&lt;script&gt;alert(1)&lt;/script&gt; &amp; more");
  expect(page.html).not.toContain("<script>alert");
  expect(page.headers.get("content-security-policy")).toContain("script-src 'self'");
});

test("every page says that the practice model is in use", async () => {
  const visitor = await loggedIn();
  const others = ["/accounts", "/members", "/service-accounts", "/sessions", "/join"];
  for (const path of ["/agents", "/repositories", "/keys", "/settings", ...others, "/login"])
    expect((await (path === "/login" ? browser() : visitor).get(path)).html, path).toContain(
      "Agents use the practice model",
    );
});

test("the page of an agent names the model of each run, and the list that of the latest one", async () => {
  const visitor = await loggedIn();
  const started = await visitor.form("/agents", { token: visitor.token, prompt: "run echo hello", mode: "agent" });
  const { html } = await visitor.get(started.headers.get("location") ?? "");
  expect(html).toContain("practice model (scripted, no intelligence)");
  const { html: list } = await visitor.get("/agents");
  expect(list).toContain('<span class="model">practice model (scripted, no intelligence)</span>');
});

test("a cancelled run is shown as Cancelled, neither as a success nor as an error", async () => {
  const visitor = await loggedIn();
  const started = await visitor.form("/agents", { token: visitor.token, prompt: "stop this", mode: "agent" });
  const path = started.headers.get("location") ?? "";
  const runs = server.platform.db.updateTable("runs").where("agent_id", "=", path.split("/").at(-1) ?? "");
  for (const [status, word] of [
    ["CANCELLED", "Cancelled"],
    ["EXPIRED", "Expired"],
    ["ERROR", "Failed"],
    ["FINISHED", "Finished"],
  ] as const) {
    await runs.set({ status }).execute();
    const { html } = await visitor.get(path);
    expect(html).toContain(`<span class="badge ${status.toLowerCase()}">${word}</span>`);
  }
  const { html: styles } = await visitor.get("/assets/style.css");
  const coloured = styles.split("\n").filter((line) => /--good|--bad/.test(line));
  expect(coloured.join()).not.toMatch(/\.badge\.(?:cancelled|idle)\b/);
});

const submissionIn = ({ html }: Shown): string => /name="submission" value="([^"]+)"/.exec(html)?.[1] ?? "";

test("a form submitted twice creates one agent; changed and submitted again it creates another", async () => {
  const visitor = await loggedIn();
  const fields = { token: visitor.token, submission: submissionIn(await visitor.get("/agents")), prompt: "once" };
  const [first, second] = await Promise.all([visitor.form("/agents", fields), visitor.form("/agents", fields)]);
  expect([first.status, second.status]).toEqual([303, 303]);
  expect(second.headers.get("location")).toBe(first.headers.get("location"));
  const changed = await visitor.form("/agents", { ...fields, prompt: "once again" });
  expect(changed.status).toBe(303);
  expect(changed.headers.get("location")).not.toBe(first.headers.get("location"));
  expect(submissionIn(await visitor.get("/agents"))).not.toBe(fields.submission);
});

test("a follow-up submitted twice is one run", async () => {
  const visitor = await loggedIn();
  const started = await visitor.form("/agents", { token: visitor.token, prompt: "first" });
  const path = started.headers.get("location") ?? "";
  await server.platform.db.updateTable("runs").set({ status: "FINISHED", ended_at: new Date() }).execute();
  const submission = submissionIn(await visitor.get(path));
  const followUp = { token: visitor.token, submission, prompt: "second" };
  for (const _ of ["first time", "again"])
    expect((await visitor.form(`${path}/runs`, followUp)).headers.get("location")).toBe(path);
  const { body } = await server.call(key, "GET", `/v1${path}/runs`);
  expect((body as { items: unknown[] }).items).toHaveLength(2);
});

test.each([
  ["a model that does not exist", { model: "nonesuch" }, { model: { id: "nonesuch" } }],
  ["a repository that is not allowed", { repository: "http://10.0.0.1/a" }, { repos: [{ url: "http://10.0.0.1/a" }] }],
  ["an empty prompt", { prompt: "" }, { prompt: { text: "" } }],
])("%s is refused in a form as in the API", async (_, fields, body) => {
  const { form, token } = await loggedIn();
  const refused = await server.call(key, "POST", "/v1/agents", { prompt: { text: "go" }, ...body });
  const { message } = (refused.body as { error: { message: string } }).error;
  const shown = await form("/agents", { token, prompt: "go", ...fields });
  expect(shown.status).toBe(refused.status);
  expect(shown.html.replaceAll("&gt;", ">")).toContain(message);
});

test("a form without the visitor's token does nothing", async () => {
  const visitor = await loggedIn();
  const before = await server.call(key, "GET", "/v1/agents");
  for (const token of ["", "wrong", (await loggedIn()).token]) {
    const refused = await visitor.form("/agents", { token, prompt: "no" });
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
  expect((await visitor.form(`/agents/${made.agent.id}/archive`, { token: visitor.token })).status).toBe(404);
  expect((await visitor.get("/repositories/theirs")).status).toBe(404);
  expect((await visitor.get("/agents")).html).not.toContain("theirs");
});

test("a key is created, shown once, and revoked", async () => {
  const visitor = await loggedIn();
  const made = await visitor.form("/keys", { token: visitor.token, name: "laptop" });
  const fresh = /class="key">(plt_[^<]+)</.exec(made.html)?.[1] ?? "";
  expect((await server.call(fresh, "GET", "/v1/me")).status).toBe(200);
  expect((await visitor.get("/keys")).html).not.toContain(fresh);
  await visitor.form(`/keys/${fresh.split("_")[1]}/revoke`, { token: visitor.token });
  await expect.poll(async () => (await server.call(fresh, "GET", "/v1/me")).status).toBe(401);
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
  for (const path of ["/agents/%00", "/agents/%00/diff", "/repositories/%00", "/agents?cursor=%00"])
    expect([path, (await get(path)).status]).toEqual([path, 404]);
  for (const path of ["/keys/%00/revoke", "/sessions/%00/end", "/accounts/%00/disconnect", "/invitations/%00/revoke"])
    expect([path, (await form(path, { token })).status]).toEqual([path, 404]);
});
