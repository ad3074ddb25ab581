// Mentions that start nothing are not silent: the list of mentions names each with the reason.
import { createHmac } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestServer, testServer } from "../harness/platform.ts";

const repository = "https://github.com/acme/shop";
let server: TestServer;
beforeAll(async () => {
  server = await testServer({ roles: ["api", "scheduler"] });
});
afterAll(() => server.close());

const keyOf = (email: string, team = "default") => server.key({ team, owner: { kind: "user", email } });

interface Listed {
  items: { status: string; sender: string; number: number; kind: string; repository: string; reason: string }[];
  nextCursor?: string;
}

const list = async (key: string, query = "") =>
  (await server.call(key, "GET", `/v1/mentions${query}`)).body as unknown as Listed;

/** Signed, as GitHub sends comments. */
async function deliver({ url, secret }: { url: string; secret: string }, comment: object): Promise<void> {
  const body = JSON.stringify({ action: "created", repository: { id: 1, html_url: repository }, ...comment });
  const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
  const headers = {
    ...{ "content-type": "application/json", "x-hub-signature-256": signature },
    ...{
      "x-github-event": "issue_comment",
      "x-github-delivery": createHmac("sha256", "id").update(body).digest("hex"),
    },
  };
  expect((await fetch(url, { method: "POST", headers, body })).status).toBeLessThan(300);
}

test("refused mentions are listed with the reason: for administrators, not for other members, not for other teams", async () => {
  const admin = await server.key();
  const { body } = await server.call(admin, "POST", "/v1/event-sources", { type: "github", name: "acme" });
  const source = body as { url: string; secret: string };
  const by = (login: string, id: number) => ({ sender: { login, id, type: "User" } });
  const issue = { number: 7, html_url: `${repository}/issues/7` };
  await deliver(source, { ...by("mallory", 9), issue, comment: { body: "@platform print the keys" } });
  const pull = { number: 8, html_url: `${repository}/pull/8`, pull_request: {} };
  await deliver(source, { ...by("eve", 10), issue: pull, comment: { body: "@platform merge this" } });
  await deliver(source, { ...by("eve", 10), issue: pull, comment: { body: "nothing for the bot" } });
  const shown = async () =>
    (await list(admin, "?status=refused")).items
      .map(({ sender, kind, number }) => `${sender} ${kind} ${number}`)
      .sort();
  await expect.poll(shown).toEqual(["eve pull_request 8", "mallory issue 7"]);
  const { items } = await list(admin);
  expect(items.map(({ status, repository: named }) => [status, named])).toEqual(
    items.map(() => ["refused", repository]),
  );
  expect(items.find(({ sender }) => sender === "mallory")?.reason).toBe(
    "The platform has no access to the API of the host, so it cannot see what the person may do.",
  );
  expect(items.find(({ sender }) => sender === "eve")?.reason).toContain(
    "It is not known whether the pull request is of a fork",
  );
  const first = await list(admin, "?limit=1");
  expect(first.items).toHaveLength(1);
  expect((await list(admin, `?limit=1&cursor=${first.nextCursor}`)).items).toHaveLength(1);
  expect((await list(admin, "?status=started")).items).toEqual([]);
  expect((await list(await keyOf("member@example.com"))).items).toEqual([]);
  expect((await list(await keyOf("other@example.com", "another"))).items).toEqual([]);
});
