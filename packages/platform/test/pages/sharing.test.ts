// An agent's page for teammates of its owner: read access, and follow-ups if the team allows them.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { FollowUps } from "../../src/foundation/db/index.ts";
import { openAdministration } from "../../src/identity/principals/index.ts";
import { makeLoginLink } from "../../src/identity/sessions/index.ts";
import { openArtifacts } from "../../src/runs/artifacts/index.ts";
import { type Browser, logIn, openBrowser, tokenIn } from "../harness/browser.ts";
import { type TestServer, testServer } from "../harness/platform.ts";

let server: TestServer;
let ada: string;
let agentId: string;
let visitors: Record<"owner" | "teammate" | "admin", Browser & { token: string }>;

beforeAll(async () => {
  server = await testServer({ roles: ["api"] });
  await server.key();
  ada = await server.key({ owner: { kind: "user", email: "ada@x" } });
  await server.key({ owner: { kind: "user", email: "bob@x" } });
  const { body } = await server.call(ada, "POST", "/v1/agents", { prompt: { text: "look around" } });
  agentId = (body as { agent: { id: string } }).agent.id;
  await endRuns();
  visitors = {
    owner: await loggedIn("ada@x"),
    teammate: await loggedIn("bob@x"),
    admin: await loggedIn("admin@localhost"),
  };
});
afterAll(() => server.close());
beforeEach(() => followUps("disabled"));

async function loggedIn(email: string): Promise<Browser & { token: string }> {
  const { db } = server.platform;
  const { id } = await db.selectFrom("users").select("id").where("email", "=", email).executeTakeFirstOrThrow();
  const browser = openBrowser(server.url);
  await logIn(browser, await makeLoginLink(db, id, server.url));
  return { ...browser, token: tokenIn(await browser.get("/agents")) };
}

const followUps = (setting: FollowUps) =>
  openAdministration(server.platform.db, server.platform.vault).changeTeam("default", { followUps: setting });

const endRuns = () => server.platform.db.updateTable("runs").set({ status: "FINISHED" }).execute();

interface Details {
  permissions: { followUp: boolean; cancel: boolean; manage: boolean; notice?: string };
}

/** What the page of the agent offers, and the document for browsers without JavaScript. */
async function pageOf(who: keyof typeof visitors): Promise<{ html: string; offers: Details["permissions"] }> {
  const { html } = await visitors[who].get(`/agents/${agentId}`);
  const details = await visitors[who].get(`/v1/overview/agents/${agentId}`);
  return { html, offers: (JSON.parse(details.html) as Details).permissions };
}

async function post(who: keyof typeof visitors, path: string, body: unknown = {}) {
  const headers = { "content-type": "application/json", "x-csrf-token": visitors[who].token };
  const request = { method: "POST", headers, body: JSON.stringify(body) };
  return visitors[who].send(`/v1/agents/${agentId}/${path}`, request);
}

test("the owner has every action; a teammate can read and sees the owner and the reason", async () => {
  expect((await pageOf("owner")).offers).toEqual({ followUp: true, cancel: true, manage: true });
  const { html, offers } = await pageOf("teammate");
  expect(offers).toMatchObject({ followUp: false, cancel: false, manage: false });
  expect(html).toContain("look around");
  expect(html).toContain("This agent belongs to ada@x.");
  expect(html).toContain("accepts follow-ups from its owner only");
  expect(offers.notice).toContain("This agent belongs to ada@x.");
  expect((await pageOf("admin")).offers).toMatchObject({ followUp: false, cancel: true, manage: true });
});

test("actions that the page does not offer are refused for a teammate", async () => {
  for (const path of ["runs", "archive", "unarchive"]) {
    const answer = await post("teammate", path, path === "runs" ? { prompt: { text: "mine now" } } : undefined);
    expect({ path, status: answer.status }).toEqual({ path, status: 403 });
  }
  const { body } = await server.call(ada, "GET", `/v1/agents/${agentId}/runs`);
  expect((body as { items: unknown[] }).items.length).toBe(1);
});

test("if the team allows it, a teammate sends follow-ups, and may cancel only runs they requested", async () => {
  await followUps("all");
  expect((await pageOf("teammate")).offers).toMatchObject({ followUp: true, cancel: false, manage: false });
  expect((await post("teammate", "runs", { prompt: { text: "and the tests" } })).status).toBe(200);
  expect((await pageOf("teammate")).offers).toMatchObject({ cancel: true, manage: false });
  expect((await pageOf("owner")).offers).toMatchObject({ cancel: true, manage: true });
  await endRuns();
  const { body } = await server.call(ada, "POST", `/v1/agents/${agentId}/runs`, { prompt: { text: "mine" } });
  expect((await pageOf("teammate")).offers).toMatchObject({ cancel: false });
  const { id } = (body as { run: { id: string } }).run;
  expect((await post("teammate", `runs/${id}/cancel`)).status).toBe(403);
  await endRuns();
});

test("a teammate reads the diff and the artifacts of an agent", async () => {
  const { db, vault } = server.platform;
  const { data_key, directory } = await db
    .selectFrom("agents")
    .select(["data_key", "directory"])
    .where("id", "=", agentId)
    .executeTakeFirstOrThrow();
  const owner = { agent: { id: agentId, directory }, key: await vault.unwrap(data_key) };
  await openArtifacts(server.platform).store(owner, "a report.txt", Buffer.from("what was found"));
  const { teammate } = visitors;
  const { html } = await teammate.get(`/agents/${agentId}`);
  const link = /href="(\/agents\/[^"]+\/artifacts\?path=[^"]+)"/.exec(html)?.[1] ?? expect.fail("no link");
  const file = await teammate.get((await teammate.get(link)).location);
  expect([file.status, file.html]).toEqual([200, "what was found"]);
  expect((await teammate.get(`/agents/${agentId}/changes`)).status).toBe(200);
  expect((await teammate.get(`/v1/agents/${agentId}/diff`)).status).toBe(200);
  expect((await teammate.get(`/agents/${agentId}/artifacts?path=artifacts/none`)).status).toBe(404);
});
