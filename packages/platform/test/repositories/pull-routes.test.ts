// Pull requests of the embedded git host in the API: listed, read, discussed, changed and merged.
import type { PullRequestDetails, PullRequestPage } from "@agentcli/protocol/api";
import { openClient } from "@agentcli/testkit/platform";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestServer, testServer } from "../harness/platform.ts";
import { openPull } from "./open-pull.ts";

let server: TestServer;
let key: string;
beforeAll(async () => {
  server = await testServer({ roles: ["api"] });
  key = await server.key();
});
afterAll(() => server.close());

const ask = (method: string, path: string, body?: unknown) => openClient(server.url, key).send(method, path, body);
const readDetails = async (path: string) => (await ask("GET", path)).body as PullRequestDetails;

test("a pull request is read with its changes, discussed line by line, reviewed and merged", async () => {
  const { name, number } = await openPull(server.url, key, "shop");
  const path = `/v1/repositories/${name}/pulls/${number}`;
  expect(await readDetails(path)).toMatchObject({
    ...{ title: "Say more", body: "A **better** text.", state: "open", head: "topic", base: "main" },
    ...{ url: `${server.url}/git/shop/pulls/1`, comments: [], reviews: [], checks: [], labels: [] },
  });
  const diff = (await ask("GET", `${path}/diff`)).body as { patch: string; truncated: boolean };
  expect(diff.patch).toContain("+new line");
  expect(diff.truncated).toBe(false);

  await ask("POST", `${path}/comments`, { body: "Why?", path: "README.md", line: 3 });
  const beyond = { body: "Where?", path: "README.md", line: 3_000_000_000 };
  for (const route of [path, `/git/${name}/pulls/${number}`])
    expect([route, (await ask("POST", `${route}/comments`, beyond)).status]).toEqual([route, 400]);
  const reviewed = await ask("POST", `${path}/reviews`, { verdict: "changes_requested", body: "Say less." });
  expect(reviewed.status).toBe(201);
  expect(reviewed.body).toMatchObject({
    comments: [{ author: "admin@localhost", body: "Why?", path: "README.md", line: 3 }],
    reviews: [{ verdict: "changes_requested", body: "Say less." }],
  });
  const { headCommit = "" } = await readDetails(path);
  await ask("POST", `/git/${name}/statuses/${headCommit}`, {
    state: "success",
    context: "ci",
    description: "12 passed",
  });
  expect((await readDetails(path)).checks).toMatchObject([
    { context: "ci", state: "success", description: "12 passed" },
  ]);

  expect((await ask("PATCH", path, { draft: true })).body).toMatchObject({ state: "draft" });
  const refused = await ask("POST", `${path}/merge`);
  expect(refused.status).toBe(409);
  expect(refused.text).toContain("draft");
  await ask("PATCH", path, { draft: false, state: "closed" });
  expect((await readDetails(path)).state).toBe("closed");
  await ask("PATCH", path, { state: "open" });
  const outdated = await ask("POST", `${path}/merge`, { headCommit: "0".repeat(40) });
  expect([outdated.status, outdated.text]).toEqual([409, expect.stringContaining("newer commits")]);
  expect((await ask("POST", `${path}/merge`)).body).toMatchObject({ state: "merged" });
  expect((await ask("PATCH", path, { state: "closed" })).status).toBe(409);
  expect(((await ask("GET", `${path}/diff`)).body as { patch: string }).patch).toContain("+new line");
});

test("the list has pages, newest first, and another team sees nothing of it", async () => {
  const { name } = await openPull(server.url, key, "paged");
  for (const title of ["Second", "Third"]) {
    await ask("PATCH", `/v1/repositories/${name}/pulls/${title === "Second" ? 1 : 2}`, { state: "closed" });
    await ask("POST", `/git/${name}/pulls`, { title, head: "topic" });
  }
  const page = async (query: string) =>
    (await ask("GET", `/v1/repositories/${name}/pulls${query}`)).body as PullRequestPage;
  const first = await page("?limit=2");
  expect(first.items.map(({ title }) => title)).toEqual(["Third", "Second"]);
  const rest = await page(`?limit=2&before=${first.nextBefore}`);
  expect(rest.items.map(({ title }) => title)).toEqual(["Say more"]);
  expect(rest.nextBefore).toBeUndefined();

  const stranger = openClient(server.url, await server.key({ team: "other" }));
  for (const below of ["", "/1", "/1/diff"])
    expect((await stranger.send("GET", `/v1/repositories/${name}/pulls${below}`)).status).toBe(404);
  for (const below of ["/1/merge", "/1/comments", "/1/reviews"]) {
    const body = below === "/1/reviews" ? { verdict: "approved" } : below === "/1/comments" ? { body: "x" } : undefined;
    expect((await stranger.send("POST", `/v1/repositories/${name}/pulls${below}`, body)).status).toBe(404);
  }
});
